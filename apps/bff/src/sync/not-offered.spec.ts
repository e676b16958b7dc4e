import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { AccountView } from '../accounts/account.dto.js';
import type { ConnectionView } from '../connections/connection.dto.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let customers = 0;
const hour = 3_600_000;
const routes = { balances: 'GET /accounts/:id/balances', transactions: 'GET /accounts/:id/transactions' } as const;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
});
afterAll(() => bff.close());
beforeEach(async () => {
  customers += 1;
  ({ token } = await bff.session(merchant, `customer-${customers}`));
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  const date = '2026-01-02T00:00:00.000Z';
  const row = { id: 'r-1', date, bookingDateTime: date, status: 'BOOKED', amount: -1, currency: 'GBP' } as const;
  bff.aggregator.transactions = new Map([['acc', [row]]]);
  bff.aggregator.heal();
  bff.aggregator.calls.length = 0;
});

/** The interface's answer for a feature that an institution lacks: without an error of the institution's. */
function lacking(scope: keyof typeof routes): void {
  const issues = [{ type: 'FEATURE', code: 'FEATURE_NOT_SUPPORTED', message: 'The institution does not support it' }];
  const body = { error: { tracingId: 't', code: 424, status: 'FAILED_DEPENDENCY', source: 'YAPILY', issues } };
  bff.aggregator.fail({ route: routes[scope], status: 424, body, times: Infinity });
}
const account = async (): Promise<AccountView | undefined> =>
  (await bff.ask<{ data: AccountView[] }>('GET /v1/accounts', { as: token })).body.data[0];
const connection = async (id: string): Promise<ConnectionView> =>
  (await bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as: token })).body;

it('synchronises an account without transactions, and asks no more often for it', async () => {
  lacking('transactions');
  const { id } = await bff.connected(token);
  await bff.synchronise(id);
  expect((await connection(id)).sync).toMatchObject({ status: 'completed', accounts: 1, accountsDone: 1 });
  const synced = await account();
  expect(synced).toMatchObject({ mainBalance: { amount: 10 }, lastSyncedAt: expect.any(String) });
  expect(synced?.sync).toMatchObject({ notOffered: ['transactions'] });
  expect(synced?.sync).not.toHaveProperty('explanation');
  for (let passed = 1; passed < 5; passed += 1) await later(passed * hour, () => bff.synchronise(id));
  expect(bff.aggregator.callsOf(routes.transactions)).toHaveLength(1);
  const { rows } = await bff.db.pool.query('select * from institution_circuits where failures > 0');
  expect(rows).toEqual([]);
});

it('synchronises an account without balances, until the institution offers them', async () => {
  lacking('balances');
  const { id } = await bff.connected(token);
  await bff.synchronise(id);
  const synced = await account();
  expect(synced).not.toHaveProperty('mainBalance');
  expect(synced?.sync).toMatchObject({ notOffered: ['balances'] });
  bff.aggregator.heal();
  await later(7 * hour, () => bff.synchronise(id));
  expect(await account()).toMatchObject({ mainBalance: { amount: 10 } });
  expect((await account())?.sync).not.toHaveProperty('notOffered');
});

it('keeps the transactions of an institution that offers none any more', async () => {
  const { id } = await bff.connected(token);
  await bff.synchronise(id);
  lacking('transactions');
  await later(7 * hour, () => bff.synchronise(id));
  expect((await account())?.sync).toMatchObject({ notOffered: ['transactions'] });
  const { body } = await bff.ask<{ data: unknown[] }>('GET /v1/transactions', { as: token });
  expect(body.data).toHaveLength(1);
});
