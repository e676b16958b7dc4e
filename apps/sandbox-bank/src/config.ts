import { join } from 'node:path';

/** The sandbox bank's variables, and the only reader of them. */
export class Env {
  /** 0 takes a free one. */
  SANDBOX_PORT = 3002;
  /** Address under which TPPs and browsers reach the banks; `http://localhost:<port>` when empty. */
  SANDBOX_URL = '';
  DATA_DIR = '.data';
  /** JSON file of registered TPPs; without it no TPP is known. */
  TPP_FILE = '';
  NODE_ENV = '';

  get ledgerFile(): string {
    return join(this.DATA_DIR, 'sandbox', 'ledger.sqlite');
  }

  /** Known by a loopback name, the banks are reached from this machine alone; else on every address. */
  get host(): string {
    const { hostname } = new URL(this.SANDBOX_URL || 'http://localhost');
    return ['localhost', '127.0.0.1'].includes(hostname) ? hostname : '0.0.0.0';
  }

  /** The control API never exists in production. */
  get hasControl(): boolean {
    return this.NODE_ENV !== 'production';
  }
}

/** Reads the variables; throws an error that names every faulty one, never a value. */
export function readEnv(source: NodeJS.ProcessEnv = process.env): Env {
  const env = new Env();
  const faulty: string[] = [];
  const text = (name: 'SANDBOX_URL' | 'DATA_DIR' | 'TPP_FILE' | 'NODE_ENV'): void => {
    env[name] = source[name]?.trim() || env[name];
  };
  (['SANDBOX_URL', 'DATA_DIR', 'TPP_FILE', 'NODE_ENV'] as const).forEach(text);
  const port = source['SANDBOX_PORT']?.trim() || String(env.SANDBOX_PORT);
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) env.SANDBOX_PORT = Number(port);
  else faulty.push('SANDBOX_PORT: not a port');
  if (env.SANDBOX_URL !== '' && !/^https?:\/\/[^/]+$/.test(env.SANDBOX_URL.replace(/\/$/, '')))
    faulty.push('SANDBOX_URL: not an http address without a path');
  env.SANDBOX_URL = env.SANDBOX_URL.replace(/\/$/, '');
  if (faulty.length > 0) throw new Error(`Cannot start. Faulty variables:\n  ${faulty.join('\n  ')}`);
  return env;
}
