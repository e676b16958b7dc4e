import { resolve } from 'node:path';

/** What the launcher reads from the environment (the README lists every variable). */
export interface StackSettings {
  /** Ports of the three programs, of which the sandbox bank has two; 0 takes a free one. */
  ports: { aggregator: number; bff: number; sandbox: number; sandboxTls: number };
  /** Absolute folder of everything that outlives a run: database, ledger, keys, logs. */
  dataDir: string;
  /** An existing Postgres; without it the embedded one is started. */
  databaseUrl?: string;
  /** An existing Redis or Valkey for the queues; without it they live in Postgres. */
  redisUrl?: string;
  /** Names the version header and the error source of the interface. */
  serviceName?: string;
  logLevel?: string;
  /** The BFF keeps Node's own bounds of its heap, as a program in production does. */
  ordinaryHeap?: boolean;
}

const defaults = { AGGREGATOR_PORT: 3000, BFF_PORT: 3001, SANDBOX_PORT: 3002, SANDBOX_TLS_PORT: 3003 };

/**
 * Reads the launcher's settings. Every faulty variable is named at once, never its value.
 * @throws Error with the names of all faulty variables
 */
export function readSettings(source: NodeJS.ProcessEnv = process.env): StackSettings {
  const faults: string[] = [];
  const port = (name: keyof typeof defaults, usual = defaults[name]): number => {
    const text = source[name] ?? String(usual);
    const value = Number(text);
    if (!/^\d{1,5}$/.test(text) || value > 65_535) faults.push(`${name} must be a port from 0 to 65535`);
    return value;
  };
  const address = (name: string, protocols: RegExp): string | undefined => {
    const text = source[name];
    if (text === undefined || text === '') return undefined;
    if (!protocols.test(text) || !URL.canParse(text)) faults.push(`${name} must be an address (${protocols.source})`);
    return text;
  };
  const sandbox = port('SANDBOX_PORT');
  // A stack beside another one, with a port of its own for the sandbox bank, needs two.
  const sandboxTls = port('SANDBOX_TLS_PORT', sandbox === defaults.SANDBOX_PORT ? undefined : 0);
  const settings: StackSettings = {
    ports: { aggregator: port('AGGREGATOR_PORT'), bff: port('BFF_PORT'), sandbox, sandboxTls },
    dataDir: resolve(source['DATA_DIR'] || '.data'),
    databaseUrl: address('DATABASE_URL', /^postgres(ql)?:\/\//),
    redisUrl: address('REDIS_URL', /^rediss?:\/\//),
    serviceName: source['SERVICE_NAME'],
    logLevel: source['LOG_LEVEL'],
  };
  if (source['NODE_ENV'] === 'production' && settings.databaseUrl === undefined) {
    faults.push('DATABASE_URL must be set: the embedded Postgres is for the sandbox');
  }
  if (faults.length > 0) throw new Error(`Faulty settings:\n  ${faults.join('\n  ')}`);
  return settings;
}

/** The environment every child program starts from: the machine's, without any variable that is ours to decide. */
export function inheritedEnvironment(source: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const ours = /^(AGGREGATOR_|BFF_|SANDBOX_|DATABASE_URL|REDIS_URL|SEALING_KEYS|ROLE|TPP_|npm_)/;
  return Object.fromEntries(Object.entries(source).filter(([name]) => !ours.test(name)));
}

/** The launcher runs sandbox banks under sandbox credentials, which production must never see. */
export function refuseProduction(source: NodeJS.ProcessEnv = process.env): void {
  if (source['NODE_ENV'] === 'production') throw new Error('NODE_ENV must not be production: this starts a sandbox');
}
