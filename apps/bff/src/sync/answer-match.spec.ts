import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { newAccount, take } from './recorded-account.fixture.js';

let db: FreshDatabase<BffPrisma>;

beforeAll(async () => {
  db = await freshDatabase('bff');
});
afterAll(() => db.close());

const hourMs = 3_600_000;

/** As autovacuum does now and then; the programs' own role may not. */
async function analyse(): Promise<void> {
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  await client.query('analyze bff.transactions');
  await client.end();
}

function row(index: number, shop: string): Transaction {
  const date = new Date(Date.UTC(2024, 0, 1) + index * 6 * hourMs).toISOString();
  const description = `${shop} ${index}`;
  return { date, bookingDateTime: date, status: 'BOOKED', amount: -index - 1, currency: 'GBP', description };
}

it(
  'compares an account that is newer than the statistics of the table in a moment, too',
  { timeout: 60_000 },
  async () => {
    const history = Array.from({ length: 4_000 }, (_, index) => row(index, 'Newcomer'));
    for (let known = 0; known < 10; known++) {
      const rows = Array.from({ length: 1_000 }, (_, index) => row(index, `Shop ${known}`));
      await take(db.pool, await newAccount(db.pool), rows);
    }
    await analyse();
    // The planner has never heard of this account, and takes it for one row.
    const account = await newAccount(db.pool);
    await take(db.pool, account, history);
    const latest = history.slice(-60);
    const from = new Date(latest[0]?.date ?? 0);
    const started = performance.now();
    const outcome = await take(db.pool, account, [...latest, row(5_000, 'Newcomer')], {
      window: { from, before: null },
    });
    expect(outcome).toMatchObject({ added: 1, modified: 0, removed: 0 });
    // Half a minute and more when every row is compared with every other.
    expect(performance.now() - started).toBeLessThan(10_000);
  },
);
