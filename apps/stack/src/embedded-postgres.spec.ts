import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { until } from '../../../test/support/receiver.js';
import { type RunningPostgres, startPostgres } from './embedded-postgres.js';

/** One connection for one statement. */
async function sql(server: RunningPostgres, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.connectionString });
  // The server is killed in these tests, which ends connections without a query too.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the embedded Postgres', () => {
  let dataDir: string;
  let server: RunningPostgres;
  const pidFile = () => join(dataDir, 'postgres', 'postmaster.pid');
  const recorded = async () => Number((await readFile(pidFile(), 'utf8')).split('\n')[0]);

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'tributary-embedded-'));
    server = await startPostgres({ dataDir });
  });
  afterAll(async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('makes its cluster at the first start, and leaves nothing of the making', async () => {
    expect(existsSync(join(dataDir, 'postgres', 'PG_VERSION'))).toBe(true);
    expect(existsSync(join(dataDir, 'postgres.new'))).toBe(false);
    expect(existsSync(join(dataDir, 'postgres-password.init'))).toBe(false);
    expect((await stat(join(dataDir, 'postgres-password'))).mode & 0o077).toBe(0);
    expect(await sql(server, 'SELECT current_database() AS name')).toEqual([{ name: 'tributary' }]);
    await sql(server, 'CREATE TABLE kept AS SELECT 1 AS n');
  });

  it('lets nobody in without the password', async () => {
    const url = new URL(server.connectionString);
    url.password = 'another';
    const client = new pg.Client({ connectionString: url.href });
    await expect(client.connect()).rejects.toThrow('password authentication failed');
  });

  it('stops what an earlier run left on its data, and keeps the data', async () => {
    const left = server.pid;
    expect(await recorded()).toBe(left);
    await sql(server, 'INSERT INTO kept VALUES (2)');
    server = await startPostgres({ dataDir });
    expect(server.pid).not.toBe(left);
    expect(isRunning(left)).toBe(false);
    expect(await sql(server, 'SELECT n FROM kept ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('has what was committed before it was killed', async () => {
    await sql(server, 'INSERT INTO kept VALUES (3)');
    const killed = server.pid;
    process.kill(killed, 'SIGKILL');
    await until(() => !isRunning(killed));
    expect(await recorded()).toBe(killed);
    server = await startPostgres({ dataDir });
    expect(await sql(server, 'SELECT n FROM kept ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('starts although its pid file names a program that is not it, and leaves that alone', async () => {
    const content = await readFile(pidFile(), 'utf8');
    await server.stop();
    expect(existsSync(pidFile())).toBe(false);
    await writeFile(pidFile(), content.replace(/^\d+/, String(process.pid)));
    server = await startPostgres({ dataDir });
    expect(await recorded()).toBe(server.pid);
    expect(await sql(server, 'SELECT count(*)::integer AS count FROM kept')).toEqual([{ count: 3 }]);
  });

  it('may be stopped twice', async () => {
    await server.stop();
    await server.stop();
    expect(isRunning(server.pid)).toBe(false);
  });
});
