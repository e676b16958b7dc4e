import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { emptyDatabase } from '../test/support/postgres.js';
import { applyMigrations, type Program, programFolder, programs, readMigrations } from './migrate.js';
import { diffSchema, withSchemaEngine } from './schema-diff.js';

/** What `prisma migrate status` asks Prisma's engine: these files, compared with the ledger in the database. */
function askStatus(program: Program, url: string, later: { name: string; sql: string }[] = []) {
  const baseDir = join(programFolder(program), 'migrations');
  const lockfile = { path: 'migration_lock.toml', content: readFileSync(join(baseDir, 'migration_lock.toml'), 'utf8') };
  const migrationDirectories = [...readMigrations(program), ...later].map(({ name, sql }) => ({
    path: name,
    migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value: sql } },
  }));
  return withSchemaEngine(program, url, (engine) =>
    engine.diagnoseMigrationHistory({
      migrationsList: { baseDir, lockfile, shadowDbInitScript: '', migrationDirectories },
      optInToShadowDatabase: false,
      filters: { externalTables: [], externalEnums: [] },
    }),
  );
}

describe.each(programs)('the migrations of %s', (program) => {
  it('agree with the schema', async () => {
    expect(await diffSchema(program, inject('postgresUrl'))).toBe('');
  });

  it('are applied once when four processes start together on an empty database', async () => {
    const database = await emptyDatabase();
    try {
      const applied = await Promise.all([1, 2, 3, 4].map(() => applyMigrations(program, database.url)));
      const names = readMigrations(program).map(({ name }) => name);
      expect(applied.flat().toSorted()).toEqual(names);
      expect(names.length).toBeGreaterThan(0);
      expect(await applyMigrations(program, database.url)).toEqual([]);
    } finally {
      await database.drop();
    }
  });

  it('are recorded so that the Prisma CLI knows what has been applied, and what has not', async () => {
    const database = await emptyDatabase();
    try {
      await applyMigrations(program, database.url);
      const upToDate = { editedMigrationNames: [], failedMigrationNames: [], hasMigrationsTable: true, history: null };
      expect(await askStatus(program, database.url)).toEqual(upToDate);
      const later = { name: '20991231000000_later', sql: 'SELECT 1' };
      const behind = { diagnostic: 'databaseIsBehind', unappliedMigrationNames: [later.name] };
      expect(await askStatus(program, database.url, [later])).toEqual({ ...upToDate, history: behind });
    } finally {
      await database.drop();
    }
  });

  it('are refused when one was edited after it was applied', async () => {
    const database = await emptyDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      await applyMigrations(program, database.url);
      await client.query(`UPDATE ${program}._prisma_migrations SET checksum = 'edited'`);
      await expect(applyMigrations(program, database.url)).rejects.toThrow('was changed after it had been applied');
    } finally {
      await client.end();
      await database.drop();
    }
  });
});
