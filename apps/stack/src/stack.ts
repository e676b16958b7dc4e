import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StackSettings } from './config.js';
import {
  loadCredentials,
  type SandboxCredentials,
  saveCredentials,
  type TppFiles,
  writePrivateJson,
  writeTppFiles,
} from './credentials.js';
import { startPostgres } from './embedded-postgres.js';
import { freePort } from './free-port.js';
import { isHealthy, type Program, startProgram, waitUntilHealthy } from './programs.js';
import { applyMigrations } from '../../../prisma/migrate.js';

/** Where a stack listens and how to use it; kept in `DATA_DIR/stack.json` (mode 0600). */
export interface StackFile {
  aggregator: string;
  bff: string;
  sandbox: string;
  /** Where the sandbox banks take certificates. */
  sandboxTls: string;
  application: { id: string; secret: string };
  operatorKey: string;
  merchant: { id: string; name: string; apiKey: string };
  databaseUrl: string;
  /** The launcher, the programs and Postgres hang below this process. */
  pid: number;
  startedAt: string;
  /** Milliseconds from the command to `ready`. */
  readyMs?: number;
}

export interface Stack extends StackFile {
  programs: Program[];
  stop: () => Promise<void>;
}

interface Addresses {
  aggregator: string;
  bff: string;
  sandbox: string;
  sandboxTls: string;
}

/** Where bundles lie; tests run from the repository's root as npm does. */
const bundle = (app: string): string => join('dist', app, 'main.mjs');

type Ports = StackSettings['ports'];

/**
 * Free ports where 0 is asked for, and the same again at the next start: consents, callbacks and webhooks that were registered
 * name them.
 */
async function chooseAddresses({ dataDir, ports }: StackSettings): Promise<Addresses> {
  const file = join(dataDir, 'ports.json');
  const text = await readFile(file, 'utf8').catch(() => '{}');
  const before = JSON.parse(text) as Partial<Ports>;
  const port = async (name: keyof Ports): Promise<number> => ports[name] || freePort(before[name]);
  const chosen: Ports = {
    aggregator: await port('aggregator'),
    bff: await port('bff'),
    sandbox: await port('sandbox'),
    sandboxTls: await port('sandboxTls'),
  };
  await writePrivateJson(file, chosen);
  return {
    aggregator: `http://127.0.0.1:${chosen.aggregator}`,
    bff: `http://127.0.0.1:${chosen.bff}`,
    sandbox: `http://127.0.0.1:${chosen.sandbox}`,
    sandboxTls: `https://127.0.0.1:${chosen.sandboxTls}`,
  };
}

const portOf = (url: string): string => new URL(url).port;

async function startSandbox(
  settings: StackSettings,
  urls: Addresses,
  { tppFile, tlsFile }: TppFiles,
): Promise<Program> {
  return startProgram({
    name: 'sandbox-bank',
    bundle: bundle('sandbox-bank'),
    url: urls.sandbox,
    dataDir: settings.dataDir,
    env: {
      SANDBOX_PORT: portOf(urls.sandbox),
      SANDBOX_URL: urls.sandbox,
      SANDBOX_TLS_PORT: portOf(urls.sandboxTls),
      SANDBOX_TLS_URL: urls.sandboxTls,
      SANDBOX_TLS_FILE: tlsFile,
      DATA_DIR: settings.dataDir,
      TPP_FILE: tppFile,
      LOG_LEVEL: settings.logLevel,
    },
  });
}

interface Foundation {
  settings: StackSettings;
  urls: Addresses;
  credentials: SandboxCredentials;
  databaseUrl: string;
}

async function startAggregator(
  { settings, urls, credentials, databaseUrl }: Foundation,
  tppCredentialsFile: string,
): Promise<Program> {
  return startProgram({
    name: 'aggregator',
    bundle: bundle('aggregator'),
    url: urls.aggregator,
    dataDir: settings.dataDir,
    env: {
      ROLE: 'all',
      AGGREGATOR_PORT: portOf(urls.aggregator),
      AGGREGATOR_URL: urls.aggregator,
      DATABASE_URL: databaseUrl,
      REDIS_URL: settings.redisUrl,
      SEALING_KEYS: credentials.sealingKeys,
      SERVICE_NAME: settings.serviceName,
      SANDBOX_URL: urls.sandbox,
      SANDBOX_TLS_URL: urls.sandboxTls,
      SANDBOX_APPLICATION_ID: credentials.application.id,
      SANDBOX_APPLICATION_SECRET: credentials.application.secret,
      TPP_CREDENTIALS_FILE: tppCredentialsFile,
      LOG_LEVEL: settings.logLevel,
    },
  });
}

async function startBff({ settings, urls, credentials, databaseUrl }: Foundation): Promise<Program> {
  return startProgram({
    name: 'bff',
    bundle: bundle('bff'),
    url: urls.bff,
    dataDir: settings.dataDir,
    // A page of 100 rows is a text of 110 kB: in a smaller one a quarter of the time went to collecting garbage.
    semiSpaceMb: 16,
    ordinaryHeap: settings.ordinaryHeap,
    env: {
      ROLE: 'all',
      BFF_PORT: portOf(urls.bff),
      BFF_URL: urls.bff,
      DATABASE_URL: databaseUrl,
      REDIS_URL: settings.redisUrl,
      SEALING_KEYS: credentials.bffSealingKeys,
      AGGREGATOR_URL: urls.aggregator,
      AGGREGATOR_APPLICATION_ID: credentials.application.id,
      AGGREGATOR_APPLICATION_SECRET: credentials.application.secret,
      SESSION_KEY: credentials.sessionKey,
      OPERATOR_KEY: credentials.operatorKey,
      LOG_LEVEL: settings.logLevel,
    },
  });
}

async function createMerchant(bff: string, operatorKey: string): Promise<{ id: string; name: string; apiKey: string }> {
  const answer = await fetch(`${bff}/v1/merchants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'Corner Shop',
      merchantCategoryCode: '5411',
      ppcUserGroup: 'CONSUMER_GOODS_SERVICES',
      isContractPresent: true,
    }),
    signal: AbortSignal.timeout(15_000),
  });
  if (!answer.ok) throw new Error(`The BFF refused the sandbox merchant with ${answer.status}: ${await answer.text()}`);
  const { id, name, apiKey } = (await answer.json()) as { id: string; name: string; apiKey: string };
  return { id, name, apiKey };
}

/** The stack that `DATA_DIR/stack.json` tells of, if its programs answer. */
export async function findRunningStack(dataDir: string): Promise<StackFile | undefined> {
  const text = await readFile(join(dataDir, 'stack.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const file = JSON.parse(text) as StackFile;
  const healthy = await Promise.all([file.aggregator, file.bff, file.sandbox].map(isHealthy));
  return healthy.every(Boolean) ? file : undefined;
}

/**
 * Starts Postgres (unless `databaseUrl` is given), applies the migrations and starts the three programs side by side.
 * Whatever fails, everything that was started is stopped again before the error is thrown.
 */
export async function startStack(settings: StackSettings): Promise<Stack> {
  await mkdir(settings.dataDir, { recursive: true });
  const urls = await chooseAddresses(settings);
  const started: Started = { programs: [] };
  const stop = async (): Promise<void> => {
    await Promise.all(started.programs.map((program) => program.stop()));
    await started.database?.stop();
    await rm(join(settings.dataDir, 'stack.json'), { force: true });
  };
  try {
    const file = await startAll(settings, urls, started);
    await writePrivateJson(join(settings.dataDir, 'stack.json'), file);
    return { ...file, programs: started.programs, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What has been started so far, and must be stopped whatever happens next. */
interface Started {
  database?: { stop(): Promise<void> };
  programs: Program[];
}

async function startAll(settings: StackSettings, urls: Addresses, started: Started): Promise<StackFile> {
  const keep = (program: Program): Program => {
    started.programs.push(program);
    return program;
  };
  const credentials = await loadCredentials(settings.dataDir);
  const files = await writeTppFiles(settings.dataDir, credentials, urls.aggregator);
  // The sandbox bank needs no Postgres, so it starts while the cluster is made.
  keep(await startSandbox(settings, urls, files));
  const databaseUrl = settings.databaseUrl ?? (await startDatabase(settings, started));
  await Promise.all([applyMigrations('aggregator', databaseUrl), applyMigrations('bff', databaseUrl)]);
  const shared: Foundation = { settings, urls, credentials, databaseUrl };
  keep(await startAggregator(shared, files.tppCredentialsFile));
  keep(await startBff(shared));
  await Promise.all(started.programs.map((program) => waitUntilHealthy(program)));
  if (!credentials.merchant) {
    credentials.merchant = await createMerchant(urls.bff, credentials.operatorKey);
    await saveCredentials(settings.dataDir, credentials);
  }
  return {
    ...urls,
    application: credentials.application,
    operatorKey: credentials.operatorKey,
    merchant: credentials.merchant,
    databaseUrl,
    pid: process.pid,
    startedAt: new Date(performance.timeOrigin).toISOString(),
  };
}

async function startDatabase(settings: StackSettings, started: Started): Promise<string> {
  const database = await startPostgres({ dataDir: settings.dataDir });
  started.database = database;
  return database.connectionString;
}
