import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Account, Transaction } from '#libs/contract';
import { now, resetClock, setClock } from '#libs/server';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { logOf, projected, tableOf } from './replayed-log.fixture.js';

let bff: TestBff;
let merchant: TestMerchant;
let customerId: string;
let connectionId: string;
let customers = 0;

const dayMs = 24 * 3_600_000;

function account(id: string, iban: string): Account {
  return { id, type: 'CURRENT', currency: 'GBP', accountIdentifications: [{ type: 'IBAN', identification: iban }] };
}

/** One booking a day, each of another amount. */
function history(days: number, from = 1): Transaction[] {
  return numbers(days, from).map((day): Transaction => {
    const date = new Date(Date.UTC(2026, 0, day)).toISOString();
    return { id: `row-${day}`, date, bookingDateTime: date, status: 'BOOKED', amount: -day, currency: 'GBP' };
  });
}

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
});
afterAll(() => bff.close());
beforeEach(async () => {
  bff.aggregator.accounts = [account('old', 'GB33BUKB20201555555555')];
  bff.aggregator.transactions = new Map([['old', history(20)]]);
  const session = await bff.session(merchant, `customer-${(customers += 1)}`);
  ({ customerId } = session);
  connectionId = (await bff.connected(session.token)).id;
  await bff.synchronise(connectionId);
  const later = new Date(now().getTime() + 2 * dayMs);
  setClock(() => later);
  bff.aggregator.accounts = [account('new', 'DE02120300000000202051')];
});
afterEach(() => {
  bff.aggregator.onPage = () => {};
  resetClock();
});

/** The merchant's backend asks: a session does not outlive the days that pass here. */
const ask = <Body>(route: `${string} /${string}`, body?: object) => {
  const headers = { 'customer-id': customerId };
  return bff.ask<Body>(route, { as: merchant.apiKey, headers, ...(body && { body }) });
};
const accounts = async (): Promise<string[]> =>
  (await ask<{ data: { id: string }[] }>('GET /v1/accounts')).body.data.map(({ id }) => id);
const amounts = async (accountId = '') => {
  const route = `GET /v1/accounts/${accountId}/transactions?limit=500` as const;
  const { body } = await ask<{ data: { amount: number }[] }>(route);
  return body.data.map(({ amount }) => -amount).toSorted((one, other) => one - other);
};
const numbers = (count: number, from = 1) => Array.from({ length: count }, (_each, index) => from + index);
const joined = async () =>
  (await ask<{ data: { data: object }[] }>(`GET /v1/events?types=account.joined&customerId=${customerId}`)).body.data;
const runs = async () => {
  const text = 'select status from sync_runs where connection_id = $1';
  return (await bff.db.pool.query<{ status: string }>(text, [connectionId])).rows.map(({ status }) => status);
};

describe('an account under another number', () => {
  it('is the one that has the same bookings, before anything of it is recorded', async () => {
    const [old] = await accounts();
    const rows = history(20, 8).map((row) => ({ ...row, id: `other-${row.id}` }));
    bff.aggregator.transactions = new Map([['new', rows]]);
    await bff.synchronise(connectionId);
    expect(await accounts()).toEqual([old]);
    expect(await amounts(old)).toEqual(numbers(27));
    expect(await joined()).toMatchObject([{ data: { accountId: old, by: 'transactions' } }]);
    expect(await runs()).toEqual(['completed', 'completed']);
  });

  it('is another where its bookings are other ones', async () => {
    const rows = history(20).map((row) => ({ ...row, amount: 3 * (row.amount ?? 0) }));
    bff.aggregator.transactions = new Map([['new', rows]]);
    await bff.synchronise(connectionId);
    expect(await accounts()).toHaveLength(2);
    expect(await joined()).toEqual([]);
  });

  it('is not said to be either of two with the same bookings', async () => {
    await bff.db.pool.query(
      `insert into accounts (id, customer_id, connection_id, institution_id, identification_hash, aggregator_account_id, wire, created_at, currency)
       select gen_random_uuid(), customer_id, connection_id, institution_id, 'twin', 'twin', '{}', created_at, currency
       from accounts where connection_id = $1`,
      [connectionId],
    );
    await bff.db.pool.query(
      `insert into transactions (id, customer_id, account_id, status, date, booked_at, amount, amount_minor, currency, fingerprint, wire, sequence, first_seen_at)
       select gen_random_uuid(), t.customer_id, a.id, t.status, t.date, booked_at, amount, amount_minor, t.currency, fingerprint, t.wire, sequence, first_seen_at
       from transactions t join accounts a using (customer_id) where a.identification_hash = 'twin' and a.connection_id = $1`,
      [connectionId],
    );
    bff.aggregator.transactions = new Map([['new', history(20)]]);
    await bff.synchronise(connectionId);
    expect(await accounts()).toHaveLength(3);
    expect(await joined()).toEqual([]);
  });

  it('is found out later where the former account was still read at first', async () => {
    const [old] = await accounts();
    bff.aggregator.transactions = new Map([['new', history(20, 8)]]);
    const { token } = await bff.session(merchant, `customer-${customers}`);
    const { id: other } = await bff.connected(token);
    await bff.synchronise(other);
    expect(await accounts()).toHaveLength(2);
    await bff.db.pool.query('update account_schedules set due_at = null, ready_at = null where account_id = $1', [old]);
    const later = new Date(now().getTime() + 8 * dayMs);
    setClock(() => later);
    await bff.synchronise(other);
    expect(await accounts()).toEqual([old]);
    expect(await amounts(old)).toEqual(numbers(27));
    expect(await joined()).toMatchObject([{ data: { accountId: old, by: 'transactions' } }]);
    const whose = { customerId };
    expect(await tableOf(bff.db.pool, whose)).toEqual(projected(await logOf(bff.db.pool, whose)));
  });

  it('that a person joins while it is being read is read again as the one it is', async () => {
    const [old] = await accounts();
    bff.aggregator.transactions = new Map([['new', history(3, 21)]]);
    bff.aggregator.onPage = async () => {
      const other = (await accounts()).find((id) => id !== old);
      if (other === undefined) return;
      const answer = await ask(`POST /v1/accounts/${old}/join`, { accountId: other });
      expect(answer.status).toBe(200);
    };
    await bff.synchronise(connectionId);
    expect(await amounts(old)).toEqual(numbers(20));
    await bff.synchronise(connectionId);
    expect(await accounts()).toEqual([old]);
    expect(await amounts(old)).toEqual(numbers(23));
    expect(await runs()).toEqual(['completed', 'completed']);
  });
});
