import pg from 'pg';
import { inject } from 'vitest';
import { emptyDatabase } from '../test/support/postgres.js';
import { applyMigrations, programs, readMigrations } from './migrate.js';
import { diffSchema } from './schema-diff.js';

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
