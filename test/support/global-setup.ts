import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../apps/stack/src/embedded-postgres.js';
import { applyMigrations, type Program, programs, readMigrations } from '../../prisma/migrate.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser's connection string of the run's one server. */
    postgresUrl: string;
    /** The migrated database that `freshDatabase` copies, for each program. */
    templates: Record<Program, string>;
  }
}

/** A test run loses nothing that matters when the machine dies, so nothing waits for the disk. */
const carefree = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '100' };

/** Starts one Postgres for the run (or uses `TEST_DATABASE_URL`) and migrates one template database for each program. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEST_DATABASE_URL'];
  const dataDir = given ? undefined : await mkdtemp(join(tmpdir(), 'tributary-test-'));
  const server = dataDir ? await startPostgres({ dataDir, settings: carefree }) : undefined;
  const url = given ?? server?.connectionString ?? '';
  const [aggregator, bff] = await Promise.all(programs.map((program) => makeTemplate(program, url)));
  project.provide('postgresUrl', url);
  project.provide('templates', { aggregator: aggregator ?? '', bff: bff ?? '' });
  return async () => {
    await server?.stop();
    if (dataDir) await rm(dataDir, { recursive: true, force: true });
  };
}

/** Named after its migrations, so a server that several runs share holds one template for each state of them. */
async function makeTemplate(program: Program, serverUrl: string): Promise<string> {
  const hash = createHash('sha256');
  for (const { name, checksum } of readMigrations(program)) hash.update(`${name} ${checksum}\n`);
  const name = `template_${program}_${hash.digest('hex').slice(0, 16)}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${name}`);
    const url = new URL(serverUrl);
    url.pathname = `/${name}`;
    await applyMigrations(program, url.href);
  } finally {
    await client.end();
  }
  return name;
}
