import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import { now } from '#libs/server';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { AccountView } from '../accounts/account.dto.js';
import type { ConnectionView } from '../connections/connection.dto.js';
import { failuresMax } from './institution-circuit.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let customers = 0;
const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** A booked row so many days old. */
function row(days: number): Transaction {
  const at = new Date(now().getTime() - days * dayMs + hourMs).toISOString();
  return { id: `r${days}`, date: at, bookingDateTime: at, status: 'BOOKED', amount: -days - 1, currency: 'GBP' };
}

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
});
afterAll(() => bff.close());
beforeEach(async () => {
  customers += 1;
  ({ token } = await bff.session(merchant, `customer-${customers}`));
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  bff.aggregator.transactions = new Map([['acc', [row(0), row(40), row(100), row(200), row(700)]]]);
  bff.aggregator.onPage = () => {};
  bff.aggregator.onTransactions = () => undefined;
  bff.aggregator.heal();
  bff.aggregator.calls.length = 0;
  for (const table of ['institution_reaches', 'institution_circuits']) await bff.db.pool.query(`delete from ${table}`);
});

/** A connection whose customer has authorised this very moment. */
const connected = async (): Promise<string> => {
  const { id } = await bff.connected(token);
  await bff.db.pool.query('update connections set authorised_at = $2 where id = $1', [id, now()]);
  return id;
};
const synchronise = (id: string, afterMs = 0): Promise<void> => later(afterMs, () => bff.synchronise(id));
const connection = async (id: string): Promise<ConnectionView> =>
  (await bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as: token })).body;
const account = async (): Promise<AccountView | undefined> =>
  (await bff.ask<{ data: AccountView[] }>('GET /v1/accounts', { as: token })).body.data[0];
const walks = () => bff.aggregator.callsOf('GET /accounts/:id/transactions');
/** The days back that were asked for, null for everything. */
const asked = (): (number | null)[] =>
  walks().map(({ query }) => {
    const from = query.get('from');
    return from === null ? null : Math.round((now().getTime() - Date.parse(from)) / dayMs);
  });
const rows = async (id: string): Promise<string[]> => {
  const text = `select t.bank_id from transactions t join accounts a on a.id = t.account_id
    where a.connection_id = $1 and t.removed_at is null order by t.date desc`;
  return (await bff.db.pool.query<{ bank_id: string }>(text, [id])).rows.map(({ bank_id: bankId }) => bankId);
};
const failing = (institutionStatus: number) => ({
  status: 424,
  body: { error: { institutionError: { httpStatusCode: institutionStatus } } },
});

describe('how far back an account is read', () => {
  it('is everything first, then what may be new, and everything again after a week', async () => {
    const id = await connected();
    await synchronise(id);
    const historyFrom = Date.parse((await account())?.sync?.historyFrom ?? '');
    expect(Math.round((now().getTime() - historyFrom) / dayMs)).toBe(700);
    await synchronise(id, 7 * hourMs);
    await synchronise(id, 14 * hourMs);
    await synchronise(id, 8 * dayMs);
    const [first, second, third, fourth] = asked();
    expect([first, fourth]).toEqual([null, null]);
    expect([second, third]).toEqual([14, 14]);
    expect(await rows(id)).toEqual(['r0', 'r40', 'r100', 'r200', 'r700']);
  });

  it('fills the whole gap since the last success', async () => {
    const id = await connected();
    await synchronise(id);
    bff.aggregator.fail({ route: 'GET /accounts/:id/transactions', times: 3, ...failing(500) });
    for (const days of [1, 2, 3]) await synchronise(id, days * dayMs);
    bff.aggregator.heal();
    bff.aggregator.calls.length = 0;
    await synchronise(id, 5 * dayMs);
    expect(asked()).toEqual([14]);
    expect((await connection(id)).health).toBe('healthy');
  });
});

describe('an institution that asks to be left alone', () => {
  it.each([
    [429, '7200', 2 * hourMs],
    [503, '7200', 2 * hourMs],
    [429, '172800', dayMs],
  ])(
    'is, after %d, for %s seconds or a day, and the merchant is told until when',
    async (status, retryAfter, waitMs) => {
      const id = await connected();
      await synchronise(id);
      const headers = { 'retry-after': retryAfter };
      bff.aggregator.fail({ route: 'GET /accounts/:id/transactions', ...failing(status), headers });
      const refusedAt = now().getTime() + 7 * hourMs;
      await synchronise(id, 7 * hourMs);
      const { sync } = (await account()) ?? {};
      for (const told of [sync?.nextPossibleAt, sync?.nextSyncAt, (await connection(id)).nextSyncAt])
        expect(Math.round((Date.parse(told ?? '') - refusedAt) / 60_000)).toBe(waitMs / 60_000);
      const calls = asked().length;
      await synchronise(id, 7 * hourMs + waitMs / 2);
      expect(asked()).toHaveLength(calls);
      await synchronise(id, 7 * hourMs + waitMs + 60_000);
      expect(asked()).toHaveLength(calls + 1);
    },
  );
});

describe('the calls of a day', () => {
  it('are never more than four a scope without the customer, whatever fails', async () => {
    const id = await connected();
    bff.aggregator.fail({ route: 'GET /accounts/:id/transactions', times: 99, ...failing(500) });
    for (let minutes = 0; minutes < 24 * 60; minutes += 20) await synchronise(id, minutes * 60_000);
    expect(walks().length).toBeLessThanOrEqual(4);
    expect(bff.aggregator.callsOf('GET /accounts/:id/balances').length).toBeLessThanOrEqual(4);
    expect(bff.aggregator.callsOf('GET /accounts').length).toBeLessThanOrEqual(4);
    expect(walks().length).toBeGreaterThan(2);
  });

  it('that the institution refuses as too many are no fault: nothing is degraded, and the wait is told', async () => {
    const id = await connected();
    await synchronise(id);
    bff.aggregator.fail({ route: 'GET /accounts/:id/transactions', ...failing(429) });
    await synchronise(id, 7 * hourMs);
    const view = await connection(id);
    const sync = { status: 'incomplete', problem: 'not-due-yet', accountsDone: 0 };
    expect(view).toMatchObject({ status: 'active', health: 'healthy', sync });
    const wait = Date.parse((await account())?.sync?.nextPossibleAt ?? '') - now().getTime();
    expect(Math.round(wait / hourMs)).toBe(8);
    await synchronise(id, 9 * hourMs);
    expect((await connection(id)).sync).toMatchObject({ status: 'completed', accountsDone: 1 });
  });

  it('do not count where they never reached the institution', async () => {
    const id = await connected();
    bff.aggregator.fail({ route: 'GET /accounts/:id/transactions', status: 500, times: 6 });
    for (let hours = 0; hours < 12; hours += 1) await synchronise(id, hours * hourMs);
    expect((await connection(id)).health).toBe('healthy');
  });
});

describe('accounts of one connection', () => {
  it('stand alone: neither an empty one nor a failing one stops the others, and each has its own next try', async () => {
    bff.aggregator.accounts = ['good', 'empty', 'broken'].map((id) => ({ id, currency: 'GBP' }));
    bff.aggregator.transactions = new Map([['good', [row(0), row(1)]]]);
    bff.aggregator.fail({
      route: 'GET /accounts/:id/transactions',
      path: '/accounts/broken/transactions',
      ...failing(500),
    });
    const id = await connected();
    await synchronise(id);
    expect((await connection(id)).sync).toMatchObject({ status: 'incomplete', accounts: 3, accountsDone: 2 });
    bff.aggregator.calls.length = 0;
    await synchronise(id, 60_000);
    expect(walks().map(({ path }) => path)).toEqual(['/accounts/broken/transactions']);
    expect(await connection(id)).toMatchObject({ health: 'healthy', sync: { status: 'completed', accounts: 1 } });
  });

  it('that the consent shows no longer are not asked for, until it shows them again', async () => {
    const id = await connected();
    await synchronise(id);
    const shown = bff.aggregator.accounts;
    bff.aggregator.accounts = [{ id: 'another', currency: 'GBP' }];
    await synchronise(id, 26 * hourMs);
    expect((await account())?.sync?.explanation).toMatchObject({ reason: 'not-shared', owner: 'user' });
    bff.aggregator.accounts = [...shown, ...bff.aggregator.accounts];
    await synchronise(id, 52 * hourMs);
    expect((await account())?.sync?.explanation).toBeUndefined();
  });
});

describe('an outage of an institution', () => {
  const events = async (): Promise<string[]> => {
    const { rows: found } = await bff.db.pool.query<{ type: string }>(
      `select type from events where type like 'institution.%' order by sequence`,
    );
    return found.map(({ type }) => type);
  };

  it('holds calls back after failures of several connections, lets one try, and is told when it begins and ends', async () => {
    const told = (await events()).length;
    const ids: string[] = [];
    for (let index = 0; index < failuresMax + 2; index += 1) {
      ({ token } = await bff.session(merchant, `outage-${index}`));
      ids.push(await connected());
    }
    bff.aggregator.fail({ route: 'GET /accounts', times: 99, ...failing(503) });
    for (const id of ids) await synchronise(id);
    expect(bff.aggregator.callsOf('GET /accounts')).toHaveLength(failuresMax);
    expect((await events()).slice(told)).toEqual(['institution.outage-began']);
    // The last one was never tried, and says why.
    const held = await connection(ids.at(-1) ?? '');
    expect(held).toMatchObject({ status: 'active', sync: { problem: 'institution-outage' } });
    await later(90_000, () => Promise.all(ids.map((id) => bff.synchronise(id))));
    expect(bff.aggregator.callsOf('GET /accounts')).toHaveLength(failuresMax + 1);
    bff.aggregator.heal();
    for (const minutes of [10, 20]) for (const id of ids) await synchronise(id, minutes * 60_000);
    expect((await events()).slice(told)).toEqual(['institution.outage-began', 'institution.outage-ended']);
    const { rows: healths } = await bff.db.pool.query<{ health: string }>(
      'select health from connections where id = any($1)',
      [ids],
    );
    expect(healths.map(({ health }) => health)).toEqual(ids.map(() => 'healthy'));
  });

  it('is not what one ill connection makes, however often it fails', async () => {
    const told = (await events()).length;
    bff.aggregator.fail({ route: 'GET /accounts', times: 99, ...failing(500) });
    const id = await connected();
    for (let days = 0; days < 8; days += 1) await synchronise(id, days * dayMs);
    expect(bff.aggregator.callsOf('GET /accounts').length).toBeGreaterThan(failuresMax);
    expect((await events()).slice(told)).toEqual([]);
  });
});

describe('an account that another connection has', () => {
  it('is not read in vain again, and again as soon as that one lists it', async () => {
    const [first, second] = [await connected(), await connected()];
    await synchronise(first);
    // As when a program ends between storing a list and putting its accounts on the schedule.
    await bff.db.pool.query('update accounts set connection_id = $2 where connection_id = $1', [first, second]);
    const before = walks().length;
    await synchronise(first, 7 * hourMs);
    await synchronise(first, 14 * hourMs);
    expect(walks().length - before).toBe(1);
    await synchronise(second, 15 * hourMs);
    expect(await rows(second)).toHaveLength(5);
    expect(walks().length - before).toBe(2);
  });
});
