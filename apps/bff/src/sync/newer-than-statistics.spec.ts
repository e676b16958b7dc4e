import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import { type BffPrisma, transaction } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { moveTransactions } from './moved-transactions.js';
import { newAccount, type RecordedAccount, take } from './recorded-account.fixture.js';

let db: FreshDatabase<BffPrisma>;
let account: RecordedAccount;

/** As its owner, for the programs' own role may not gather statistics. Autovacuum does so now and then. */
async function asOwner(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  for (const each of [...statements, 'analyze bff.transactions, bff.staged_rows, bff.changes'])
    await client.query(each);
  await client.end();
}

const hourMs = 3_600_000;

function row(index: number, shop: string, more: Partial<Transaction> = {}): Transaction {
  const date = new Date(Date.UTC(2024, 0, 1) + index * 6 * hourMs).toISOString();
  const description = `${shop} ${index}`;
  return { date, bookingDateTime: date, status: 'BOOKED', amount: -index - 1, currency: 'GBP', description, ...more };
}

/** Postgres gives a statement half a minute: what goes through the account for every row of it takes longer. */
const patienceMs = 60_000;

const heardOf = {
  'other accounts': [],
  'nothing but rows that are gone': ['delete from bff.transactions', 'delete from bff.changes'],
};

describe.each(Object.entries(heardOf))('an account, where the planner has heard of %s', (_what, statements) => {
  beforeAll(async () => {
    db = await freshDatabase('bff');
    for (let known = 0; known < 10; known++) {
      const rows = Array.from({ length: 1_000 }, (_, index) => row(index, `Shop ${known}`));
      await take(db.pool, await newAccount(db.pool), rows);
    }
  });
  beforeEach(async () => {
    account = await newAccount(db.pool);
    await asOwner(...statements);
  });
  afterAll(() => db.close());

  it('is compared with a part of its history', { timeout: patienceMs }, async () => {
    const history = Array.from({ length: 4_000 }, (_, index) => row(index, 'Newcomer'));
    await take(db.pool, account, history);
    const latest = history.slice(-60);
    const window = { from: new Date(latest[0]?.date ?? 0), before: null };
    const outcome = await take(db.pool, account, [...latest, row(5_000, 'Newcomer')], { window });
    expect(outcome).toMatchObject({ added: 1, modified: 0, removed: 0 });
  });

  it(
    'is recorded when much of its first answer may be the booking of a pending row',
    { timeout: patienceMs },
    async () => {
      const twins = Array.from({ length: 24_000 }, (_, index) => row(index, 'Newcomer', { amount: -1 - (index % 2) }));
      const pending = row(24_001, 'Hold', { status: 'PENDING', amount: -1 });
      expect(await take(db.pool, account, [pending, ...twins])).toMatchObject({ added: 24_001 });
    },
  );

  it('is recorded when the bank says something else of each row', { timeout: patienceMs }, async () => {
    const history = Array.from({ length: 12_000 }, (_, index) => row(index, 'Newcomer', { id: `bank-${index}` }));
    await take(db.pool, account, history);
    const renamed = history.map((each) => ({ ...each, description: `${each.description} plc` }));
    expect(await take(db.pool, account, renamed)).toMatchObject({ added: 0, modified: 12_000, removed: 0 });
  });

  it('is moved under another one', { timeout: patienceMs }, async () => {
    const history = Array.from({ length: 12_000 }, (_, index) => row(index, 'Newcomer'));
    await take(db.pool, account, history);
    const { accountId: to } = await newAccount(db.pool);
    const { customerId, accountId: from } = account;
    await transaction(db.pool, (tx) => moveTransactions(tx, { customerId, from, to }));
    const { rowCount } = await db.pool.query('select from transactions where account_id = $1', [to]);
    expect(rowCount).toBe(12_000);
  });
});
