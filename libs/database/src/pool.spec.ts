import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/support/postgres.js';
import type { AggregatorPrisma, BffPrisma } from './prisma-clients.js';
import { transaction } from './transaction.js';

describe.each(['aggregator', 'bff'] as const)('the pool of the %s', (program) => {
  let db: FreshDatabase<AggregatorPrisma | BffPrisma>;

  beforeAll(async () => {
    db = program === 'aggregator' ? await freshDatabase(program) : await freshDatabase(program);
  });
  afterAll(() => db.close());

  async function asOwner(text: string, values: unknown[]): Promise<void> {
    const client = new pg.Client({ connectionString: db.url });
    await client.connect();
    await client.query(text, values);
    await client.end();
  }

  it('outlives a connection that is dropped between two queries of a transaction', async () => {
    const work = transaction(db.pool, async (tx) => {
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
      const dropped = new Promise<void>((done) => void tx.once('end', done));
      await asOwner('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await dropped;
      await tx.query('select 1');
    });
    await expect(work).rejects.toThrow('not queryable');
    expect((await db.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });
});
