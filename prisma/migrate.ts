import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';

export type Program = 'aggregator' | 'bff';

export const programs: readonly Program[] = ['aggregator', 'bff'];

interface Migration {
  name: string;
  sql: string;
  /** SHA-256 of the file in hex, as Prisma records it. */
  checksum: string;
}

/** Prisma's own table, letter for letter, so that its CLI can go on from here. */
const ledger = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

/** Where the program's schema and migrations are: found upwards from this file, which may have been bundled into dist/. */
export function programFolder(program: Program): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, 'prisma', program);
    if (existsSync(join(candidate, 'schema.prisma'))) return candidate;
    if (folder === dirname(folder))
      throw new Error(`There is no prisma/${program} at or above ${import.meta.dirname}.`);
  }
}

/** The program's migrations, oldest first. */
export function readMigrations(program: Program): Migration[] {
  const folder = join(programFolder(program), 'migrations');
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'migration.sql')));
  return names.toSorted().map((name) => {
    const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}

/**
 * Brings the program's tables up to its migrations and answers the names it applied. Each migration is one transaction.
 * Any number of processes may call it at once: they queue behind an advisory lock. When nothing is due it costs one
 * connection and one query. Throws where a migration was edited after it was applied, or an earlier tool left one half done.
 */
export async function applyMigrations(program: Program, connectionString: string): Promise<string[]> {
  const migrations = readMigrations(program);
  const client = new pg.Client({ connectionString, application_name: `tributary-migrate-${program}` });
  await client.connect();
  try {
    const before = await readLedger(client, program);
    if (before?.isReady && pendingOf(migrations, before).length === 0) return [];
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [`tributary-migrations-${program}`]);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${program}`);
    // Policies hide every row from a role that is not a superuser and has no scope; a migration must see them all.
    await client.query(`SET search_path TO ${program}; SET tributary.application_ids TO '*'; ${ledger}`);
    await client.query(makeRole(program));
    const pending = pendingOf(migrations, (await readLedger(client, program)) ?? { applied: new Map() });
    for (const migration of pending) await apply(client, migration);
    await client.query(grantToRole(program));
    return pending.map(({ name }) => name);
  } finally {
    // Ending the session releases the lock.
    await client.end();
  }
}

interface Ledger {
  /** Migration name to checksum. */
  applied: Map<string, string>;
  isReady?: boolean;
}

/** What has been applied, or undefined where the schema is new. */
async function readLedger(client: pg.Client, program: Program): Promise<Ledger | undefined> {
  try {
    const { rows } = await client.query<{ name: string; checksum: string; finished: boolean; ready: boolean }>(
      `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished,
              EXISTS (SELECT FROM pg_roles WHERE rolname = 'tributary_${program}') AS ready
         FROM ${program}._prisma_migrations WHERE rolled_back_at IS NULL`,
    );
    const unfinished = rows.find((row) => !row.finished);
    if (unfinished) throw new Error(`Migration ${unfinished.name} of ${program} failed halfway; resolve it first.`);
    return { applied: new Map(rows.map((row) => [row.name, row.checksum])), isReady: rows[0]?.ready === true };
  } catch (error) {
    // 42P01 undefined_table, 3F000 invalid_schema_name
    if (error instanceof pg.DatabaseError && ['42P01', '3F000'].includes(error.code ?? '')) return undefined;
    throw error;
  }
}

function pendingOf(migrations: Migration[], { applied }: Ledger): Migration[] {
  for (const { name, checksum } of migrations) {
    const recorded = applied.get(name);
    if (recorded !== undefined && recorded !== checksum) {
      throw new Error(`Migration ${name} was changed after it had been applied. Write a new migration instead.`);
    }
  }
  return migrations.filter(({ name }) => !applied.has(name));
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES (gen_random_uuid(), $1, $2, now(), clock_timestamp(), 1)`,
      [checksum, name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw new Error(`Migration ${name} failed.`, { cause: error });
  }
}

/**
 * The role the program works as. Roles belong to the whole server, where the advisory lock of one database does not
 * reach, so losing the race to make it is not an error. Needs CREATEROLE, unless an operator has made the role before.
 */
function makeRole(program: Program): string {
  return `DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tributary_${program}') THEN
      CREATE ROLE tributary_${program} NOLOGIN NOSUPERUSER NOBYPASSRLS;
    END IF;
    IF NOT pg_has_role(current_user, 'tributary_${program}', 'SET') THEN
      EXECUTE format('GRANT tributary_${program} TO %I', current_user);
    END IF;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`;
}

/** Rows, but no definitions: the role cannot switch a policy off. */
function grantToRole(program: Program): string {
  const role = `tributary_${program}`;
  return `GRANT USAGE ON SCHEMA ${program} TO ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${program} TO ${role};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${program} TO ${role};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${program} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${role};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${program} GRANT USAGE ON SEQUENCES TO ${role}`;
}
