import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/support/postgres.js';
import { insistentTransaction, transaction } from './transaction.js';

describe('two transactions that wait for each other', () => {
  let db: FreshDatabase<unknown>;
  beforeAll(async () => {
    db = await freshDatabase('bff');
  });
  afterAll(() => db.close());

  /** Both take their first lock, and then the other's. */
  async function cross(run: typeof transaction<number>): Promise<PromiseSettledResult<number>[]> {
    const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempts = 0;
    const work = (own: 0 | 1) =>
      run(db.pool, async (tx) => {
        attempts += 1;
        const lock = (place: number) => tx.query('select pg_advisory_xact_lock($1)', [place]);
        await lock(own);
        begun[own]?.resolve();
        await begun[1 - own]?.promise;
        await lock(1 - own);
        return attempts;
      });
    return Promise.allSettled([work(0), work(1)]);
  }

  it('end with one that has done nothing', async () => {
    const ends = await cross(transaction);
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find((end) => end.status === 'rejected')?.reason).toMatchObject({ code: '40P01' });
  });

  it('are both done where they insist', async () => {
    const ends = await cross(insistentTransaction);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(Math.max(...ends.map((end) => (end.status === 'fulfilled' ? end.value : 0)))).toBe(3);
  });
});
