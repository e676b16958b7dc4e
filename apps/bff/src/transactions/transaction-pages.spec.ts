import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import { createPool } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { newAccount, type RecordedAccount, take } from '../sync/recorded-account.fixture.js';
import type { TransactionPage } from './transaction.dto.js';
import { TransactionsService } from './transactions.service.js';

let db: FreshDatabase<unknown>;
let transactions: TransactionsService;

beforeAll(async () => {
  db = await freshDatabase('bff');
  transactions = new TransactionsService(db.pool);
});
afterAll(() => db.close());

const row = (n: number, dates: Partial<Transaction>): Transaction => ({
  id: `b${n}`,
  status: 'BOOKED',
  amount: n,
  currency: 'GBP',
  description: `Row ${n}`,
  ...dates,
});

const pageOf = async ({ customerId, merchantId }: RecordedAccount, query: { limit: number; cursor?: string }) =>
  JSON.parse(await transactions.list({ customerId, merchantId }, query)) as TransactionPage;

async function walk(account: RecordedAccount, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await pageOf(account, { limit, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return ids;
}

describe('the pages of transactions', () => {
  it('hold each row once, in the order of the table, whichever date the bank tells', async () => {
    const account = await newAccount(db.pool);
    const days = (n: number) => `2026-03-${String((n % 9) + 1).padStart(2, '0')}T00:00:00.000Z`;
    const told = [
      (n: number) => ({ date: days(n) }),
      (n: number) => ({ bookingDateTime: days(n), date: '2026-01-01T00:00:00.000Z' }),
      (n: number) => ({ valueDateTime: days(n) }),
      (n: number) => ({ date: 'soon', valueDateTime: days(n) }),
      () => ({}),
    ];
    const rows = Array.from({ length: 40 }, (_, n) => row(n, told[n % told.length]?.(n) ?? {}));
    await take(db.pool, account, rows);
    const text = 'select id from transactions where customer_id = $1 order by date desc, id desc';
    const { rows: stored } = await db.pool.query<{ id: string }>(text, [account.customerId]);
    expect(stored).toHaveLength(rows.length);
    for (const limit of [1, 3, 20, 100]) {
      expect({ limit, ids: await walk(account, limit) }).toEqual({ limit, ids: stored.map(({ id }) => id) });
    }
  });

  it('are read from an index in their order, also of a customer of whom the planner knows nothing', async () => {
    const account = await newAccount(db.pool);
    await take(
      db.pool,
      account,
      Array.from({ length: 3_000 }, (_, n) =>
        row(n, { date: new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString() }),
      ),
    );
    expect(await planOf(account)).not.toMatch(/Sort|Bitmap/);
    // What it is for: without the pool's setting the whole history is sorted for each page.
    expect(await planOf(account, 'set enable_bitmapscan = on')).toMatch(/Sort/);
  });
});

/** The plan of a page's statement, before anything has counted the rows. */
async function planOf(account: RecordedAccount, setting = 'select 1'): Promise<string> {
  const pool = createPool({ connectionString: db.url, schema: 'bff', max: 1 });
  await pool.query(setting);
  const asked: { text: string; values: unknown[] }[] = [];
  const watched = new Proxy(pool, {
    get: (target, key) =>
      key === 'query'
        ? (query: { text: string; values: unknown[] }) => {
            asked.push(query);
            return target.query(query);
          }
        : (Reflect.get(target, key) as unknown),
  });
  await new TransactionsService(watched).list(account, { limit: 100 });
  const { text = '', values = [] } = asked[0] ?? {};
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
  await pool.end();
  return rows.map((each) => each['QUERY PLAN']).join('\n');
}
