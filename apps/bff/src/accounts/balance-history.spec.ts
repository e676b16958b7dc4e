import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Balances } from '#libs/contract';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { AccountView, BalanceHistory } from './account.dto.js';
import { keepBalanceHistory } from './balance-history.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let accountId: string;
let connectionId: string;

const of = (booked: number, available: number): Balances => ({
  mainBalanceAmount: { amount: available, currency: 'GBP' },
  balances: [
    { type: 'INTERIM_BOOKED', balanceAmount: { amount: booked, currency: 'GBP' } },
    { type: 'INTERIM_AVAILABLE', balanceAmount: { amount: available, currency: 'GBP' } },
  ],
});
const day = (n: number): Date => new Date(Date.UTC(2026, 0, n));
const see = (n: number, balances: Balances) => keepBalanceHistory(bff.db.pool, { accountId, balances, at: day(n) });
const history = (query = '', as = token) =>
  bff.ask<BalanceHistory>(`GET /v1/accounts/${accountId}/balances${query}`, { as });

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token } = await bff.session(merchant, 'ada'));
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  bff.aggregator.balances = of(10, 20);
  connectionId = (await bff.connected(token)).id;
  await bff.synchronise(connectionId);
  accountId = (await bff.ask<{ data: { id: string }[] }>('GET /v1/accounts', { as: token })).body.data[0]?.id ?? '';
});
afterAll(() => bff.close());

describe('the history of balances', () => {
  it('begins with what the first synchronisation saw', async () => {
    const { body } = await history();
    expect(body.data.map(({ type, amount }) => [type, amount])).toEqual([
      ['INTERIM_BOOKED', 10],
      ['INTERIM_AVAILABLE', 20],
    ]);
  });

  it('has a row for each change of each type, and none for what stayed', async () => {
    await bff.db.pool.query('delete from balance_records');
    for (const [n, balances] of [of(1, 1), of(1, 1), of(2, 1), of(2, 1), of(1, 3)].entries())
      await see(n + 1, balances);
    const { body } = await history();
    expect(body.hasMore).toBe(false);
    expect(body.data.map(({ type, amount, observedAt }) => `${type} ${amount} ${observedAt.slice(8, 10)}`)).toEqual([
      'INTERIM_BOOKED 1 05',
      'INTERIM_AVAILABLE 3 05',
      'INTERIM_BOOKED 2 03',
      'INTERIM_BOOKED 1 01',
      'INTERIM_AVAILABLE 1 01',
    ]);
  });

  it('is filtered by time and type, and paged', async () => {
    expect((await history('?type=INTERIM_AVAILABLE')).body.data).toHaveLength(2);
    expect((await history('?from=2026-01-02T00:00:00Z&before=2026-01-04T00:00:00Z')).body.data).toHaveLength(1);
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 10; pages += 1) {
      const { body } = await history(`?limit=1${cursor}`);
      seen.push(...body.data.map(({ type, observedAt }) => `${type} ${observedAt}`));
      if (!body.hasMore) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(new Set(seen).size).toBe(5);
    expect(seen).toHaveLength(5);
  });

  it('keeps the one balance of an institution that types none, and never a zero for a missing one', async () => {
    await bff.db.pool.query('delete from balance_records');
    await see(1, { balances: [] });
    await see(2, { balances: [{ type: 'EXPECTED' }] });
    await see(3, { mainBalanceAmount: { amount: 5, currency: 'GBP' }, balances: [] });
    expect((await history()).body.data.map(({ type, amount }) => [type, amount])).toEqual([['MAIN', 5]]);
  });

  it('is nobody else’s', async () => {
    const { token: other } = await bff.session(merchant, 'bob');
    expect((await history('', other)).status).toBe(404);
  });
});

describe('an account', () => {
  it('tells what its balance has moved beyond its rows', async () => {
    const proof = async () => (await bff.ask<AccountView>(`GET /v1/accounts/${accountId}`, { as: token })).body;
    expect((await proof()).balanceProof).toMatchObject({ difference: 0, currency: 'GBP', candidates: [] });
    bff.aggregator.balances = of(3.5, 20);
    await later(86_400_000, () => bff.synchronise(connectionId));
    expect((await proof()).balanceProof).toMatchObject({ difference: -6.5, candidates: [] });
  });
});
