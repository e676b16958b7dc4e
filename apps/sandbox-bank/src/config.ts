import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Certificates } from './listen.js';

/** The sandbox bank's variables, and the only reader of them. */
export class Env {
  /** For browsers; 0 takes a free one. */
  SANDBOX_PORT = 3002;
  /** Its public address; `http://localhost:<port>` when empty. */
  SANDBOX_URL = '';
  /** For TPPs with certificates; 0 takes a free one. */
  SANDBOX_TLS_PORT = 3003;
  /** Its public address; `https://localhost:<port>` when empty. */
  SANDBOX_TLS_URL = '';
  /** JSON file `{certificate, key, ca}`, all PEM: the banks' own, and the authority that signs TPPs' certificates. */
  SANDBOX_TLS_FILE = '';
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

const texts = ['SANDBOX_URL', 'SANDBOX_TLS_URL', 'SANDBOX_TLS_FILE', 'DATA_DIR', 'TPP_FILE', 'NODE_ENV'] as const;

/** Reads the variables; throws an error that names every faulty one, never a value. */
export function readEnv(source: NodeJS.ProcessEnv = process.env): Env {
  const env = new Env();
  const faulty: string[] = [];
  for (const name of texts) env[name] = source[name]?.trim() || env[name];
  for (const name of ['SANDBOX_PORT', 'SANDBOX_TLS_PORT'] as const) {
    const port = source[name]?.trim() || String(env[name]);
    if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) env[name] = Number(port);
    else faulty.push(`${name}: not a port`);
  }
  for (const [name, scheme] of [
    ['SANDBOX_URL', 'https?'],
    ['SANDBOX_TLS_URL', 'https'],
  ] as const) {
    env[name] = env[name].replace(/\/$/, '');
    if (env[name] !== '' && !new RegExp(`^${scheme}://[^/]+$`).test(env[name]))
      faulty.push(`${name}: not an address (${scheme}) without a path`);
  }
  if (env.SANDBOX_TLS_FILE === '') faulty.push('SANDBOX_TLS_FILE: missing');
  if (faulty.length > 0) throw new Error(`Cannot start. Faulty variables:\n  ${faulty.join('\n  ')}`);
  return env;
}

/** The certificates that SANDBOX_TLS_FILE names; throws an error without any of its content. */
export function readCertificates(file: string): Certificates {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new Error('SANDBOX_TLS_FILE cannot be read');
  }
  const members = new Map<string, unknown>(typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : []);
  const [certificate, key, ca] = ['certificate', 'key', 'ca'].map((name) => members.get(name));
  if (typeof certificate !== 'string' || typeof key !== 'string' || typeof ca !== 'string')
    throw new Error('SANDBOX_TLS_FILE lacks certificate, key or ca');
  return { certificate, key, ca };
}
