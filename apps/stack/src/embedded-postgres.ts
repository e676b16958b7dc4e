import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './free-port.js';
import { asOwner, binaries, ownerOfData, type Owner } from './postgres-binaries.js';

export interface PostgresSettings {
  /** Holds the cluster in `postgres/` and its password beside it; made when missing. */
  dataDir: string;
  /** A free one unless told. */
  port?: number;
  /** Postgres settings that replace the ones here. */
  settings?: Record<string, string>;
}

export interface RunningPostgres {
  /** Of a superuser, on the database `tributary`. */
  connectionString: string;
  pid: number;
  /** Ends every connection and waits until the data is on disk. May be called twice. */
  stop(): Promise<void>;
}

const user = 'tributary';
const startMs = 60_000;
const stopMs = 10_000;

/** Sized for one machine that runs everything: some 40 MB when idle. */
const smallMemory = {
  shared_buffers: '32MB',
  max_connections: '60',
  max_wal_size: '256MB',
  max_wal_senders: '0',
  wal_level: 'minimal',
  jit: 'off',
  lc_messages: 'C',
  log_min_messages: 'warning',
};

/**
 * Starts the Postgres 18 that npm brought, on 127.0.0.1. The first start makes the cluster; later ones keep its data, also
 * after a run that was killed: what it left running on the same data is stopped first.
 */
export async function startPostgres({ dataDir, port, settings }: PostgresSettings): Promise<RunningPostgres> {
  const owner = await ownerOfData(resolve(dataDir));
  const cluster = join(resolve(dataDir), 'postgres');
  await mkdir(resolve(dataDir), { recursive: true });
  const password = await passwordOf(resolve(dataDir));
  if (existsSync(join(cluster, 'PG_VERSION'))) await clearLeftovers(cluster);
  else await makeCluster(cluster, password, owner);
  const chosen = port || (await freePort());
  const flags = Object.entries({
    ...smallMemory,
    listen_addresses: '127.0.0.1',
    port: String(chosen),
    unix_socket_directories: '',
    ...settings,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = run(binaries().postgres, ['-D', cluster, ...flags], owner);
  const stop = () => stopChild(child);
  try {
    await readiness(child);
    const server = `postgres://${user}:${password}@127.0.0.1:${chosen}`;
    await makeDatabase(`${server}/postgres`);
    return { connectionString: `${server}/${user}`, pid: child.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The superuser's password, made once and kept beside the cluster, readable by this user only. */
async function passwordOf(dataDir: string): Promise<string> {
  const file = join(dataDir, 'postgres-password');
  if (!existsSync(file)) await writeFile(file, randomBytes(24).toString('hex'), { mode: 0o600 });
  return readFile(file, 'utf8');
}

/** Builds the cluster beside its place and moves it there when it is whole, so an interrupted first start leaves no half. */
async function makeCluster(cluster: string, password: string, owner: Owner): Promise<void> {
  const building = `${cluster}.new`;
  await rm(building, { recursive: true, force: true });
  await mkdir(building, { recursive: true, mode: 0o700 });
  const passwordFile = join(building, '..', 'postgres-password.init');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (owner.uid !== undefined && owner.gid !== undefined) {
    await Promise.all([chown(building, owner.uid, owner.gid), chown(passwordFile, owner.uid, owner.gid)]);
  }
  const args = [
    '-D',
    building,
    '-U',
    user,
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--no-sync',
  ];
  const child = run(
    binaries().initdb,
    [...args, '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
    owner,
  );
  const output = collect(child);
  const code = await new Promise((done) => child.once('close', done).once('error', done));
  await rm(passwordFile, { force: true });
  if (code !== 0) throw new Error(`initdb failed (${String(code)}):\n${output()}`);
  await rename(building, cluster);
}

/** Stops a server that a killed run left on this cluster, and removes a pid file whose number is another program's now. */
async function clearLeftovers(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 0) return;
  if (!(await isServerOf(pid, cluster))) return rm(file, { force: true });
  process.kill(pid, 'SIGINT');
  for (let waitedMs = 0; await isServerOf(pid, cluster); waitedMs += 20) {
    if (waitedMs >= stopMs) throw new Error(`Postgres ${pid} still runs on ${cluster} and does not stop.`);
    await delay(20);
  }
}

async function isServerOf(pid: number, cluster: string): Promise<boolean> {
  if (existsSync('/proc/self/cmdline')) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return command.split('\0').includes(cluster);
  }
  const child = spawn('ps', ['-p', String(pid), '-o', 'command='], { stdio: ['ignore', 'pipe', 'ignore'] });
  const output = collect(child);
  await new Promise((done) => child.once('close', done).once('error', done));
  return output().includes(cluster);
}

function run(binary: string, args: string[], owner: Owner): ChildProcess {
  const [command, ...rest] = asOwner(owner, [binary, ...args]);
  if (command === undefined) throw new Error('There is nothing to run.');
  // In a group of its own: Ctrl-C reaches the launcher, which stops the programs before their database.
  const { viaSetpriv, ...ids } = owner;
  return spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { LC_ALL: 'C', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    detached: true,
    ...(!viaSetpriv && ids),
  });
}

/** Keeps the last 4,000 characters a program printed, to be shown when it fails. */
function collect(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => (text = (text + chunk).slice(-4_000)));
  }
  return () => text;
}

async function readiness(child: ChildProcess): Promise<void> {
  const output = collect(child);
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((ready, fail) => {
      timer = setTimeout(() => fail(new Error(`Postgres is not ready after ${startMs} ms:\n${output()}`)), startMs);
      child.stderr?.on('data', () => output().includes('ready to accept connections') && ready());
      child.once('error', fail);
      child.once('exit', (code) => fail(new Error(`Postgres ended (${code}):\n${output()}`)));
    });
  } finally {
    clearTimeout(timer);
  }
}

async function makeDatabase(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [user]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${user}`);
  } finally {
    await client.end();
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  // SIGINT is Postgres's fast shutdown; SIGQUIT gives up without a checkpoint and recovers at the next start.
  child.kill('SIGINT');
  const timer = setTimeout(() => child.kill('SIGQUIT'), stopMs);
  await ended;
  clearTimeout(timer);
}
