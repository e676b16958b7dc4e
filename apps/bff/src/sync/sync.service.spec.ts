import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import { now } from '#libs/server';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { AccountView } from '../accounts/account.dto.js';
import type { ConnectionView } from '../connections/connection.dto.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let customerId: string;
let customers = 0;

const day = 86_400_000;
const start = now().getTime() - 3 * day;

function row(index: number, more: Partial<Transaction> = {}): Transaction {
  const at = new Date(start + Math.floor(index / 3) * day).toISOString();
  return {
    id: `bank-${index}`,
    date: at,
    bookingDateTime: at,
    status: 'BOOKED',
    amount: -(index + 1) / 100,
    currency: 'GBP',
    description: `Shop ${index}`,
    ...more,
  };
}

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
});
afterAll(() => bff.close());
beforeEach(async () => {
  customers += 1;
  ({ token, customerId } = await bff.session(merchant, `customer-${customers}`));
  bff.aggregator.accounts = [
    {
      id: 'acc',
      currency: 'GBP',
      nickname: 'Bills',
      accountType: 'CURRENT',
      accountIdentifications: [
        { type: 'SORT_CODE', identification: '200000' },
        { type: 'ACCOUNT_NUMBER', identification: '55779911' },
      ],
    },
  ];
  bff.aggregator.transactions = new Map([['acc', [row(0), row(1)]]]);
  bff.aggregator.onPage = () => {};
  bff.aggregator.heal();
  bff.aggregator.calls.length = 0;
});

const hour = 3_600_000;
const sync = (id: string, afterMs = 0): Promise<void> => later(afterMs, () => bff.synchronise(id));
const connection = async (id: string): Promise<ConnectionView> =>
  (await bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as: token })).body;
const stored = async (): Promise<Record<string, unknown>[]> =>
  (await bff.db.pool.query('select * from transactions where customer_id = $1 order by sequence', [customerId])).rows;
const log = async (): Promise<Record<string, unknown>[]> =>
  (await bff.db.pool.query('select * from changes where customer_id = $1 order by sequence', [customerId])).rows;

describe('a synchronisation', () => {
  it('reads every page and records accounts, balances, transactions and its figures', async () => {
    bff.aggregator.transactions.set(
      'acc',
      Array.from({ length: 2_345 }, (_, index) => row(index)),
    );
    const { id } = await bff.connected(token);
    await sync(id);
    expect(await stored()).toHaveLength(2_345);
    const view = await connection(id);
    expect(view).toMatchObject({ status: 'active', health: 'healthy', lastSyncedAt: expect.any(String) });
    expect(view.sync).toMatchObject({
      status: 'completed',
      accounts: 1,
      accountsDone: 1,
      pages: 3,
      rowsRead: 2_345,
      rowsExpected: 2_345,
      added: 2_345,
    });
    expect(bff.aggregator.callsOf('GET /accounts/:id/transactions').map(({ query }) => query.get('offset'))).toEqual([
      '0',
      '1000',
      '2000',
    ]);
    const { body } = await bff.ask<{ data: AccountView[] }>('GET /v1/accounts', { as: token });
    expect(body.data).toMatchObject([
      { connectionId: id, name: 'Bills', currency: 'GBP', mainBalance: { amount: 10, currency: 'GBP' } },
    ]);
  });

  it('writes no row and no entry for an unchanged answer', async () => {
    const { id } = await bff.connected(token);
    await sync(id);
    const before = { rows: await stored(), log: await log() };
    const versions = async () =>
      (await bff.db.pool.query('select id, xmin from transactions where customer_id = $1 order by id', [customerId]))
        .rows;
    const written = await versions();
    await sync(id, 7 * hour);
    expect({ rows: await stored(), log: await log() }).toEqual(before);
    expect(await versions()).toEqual(written);
    expect((await connection(id)).sync).toMatchObject({
      status: 'completed',
      added: 0,
      modified: 0,
      removed: 0,
      rowsRead: 2,
    });
  });

  it('gives a pending row that is booked the id it had, and removes one that vanished', async () => {
    bff.aggregator.transactions.set('acc', [
      row(0),
      row(3, { status: 'PENDING', id: 'p1' }),
      row(4, { status: 'PENDING', id: 'p2' }),
    ]);
    const { id } = await bff.connected(token);
    await sync(id);
    const pending = (await stored()).find((each) => each['bank_id'] === 'p1');
    bff.aggregator.transactions.set('acc', [row(0), row(3, { id: 'b1' })]);
    await sync(id, 7 * hour);
    const after = await stored();
    expect(after.filter((each) => each['removed_at'] === null)).toHaveLength(2);
    expect(after.find((each) => each['id'] === pending?.['id'])).toMatchObject({
      status: 'BOOKED',
      bank_id: 'b1',
      removed_at: null,
    });
    expect((await log()).map((entry) => entry['kind'])).toEqual(['added', 'added', 'added', 'linked', 'removed']);
  });

  it('takes texts as a bank may send them', async () => {
    const odd = 'Caf\u00e9 \u0000 "quoted" \\N \t tab \n line \ud83d\ude00';
    bff.aggregator.accounts = bff.aggregator.accounts.map((account) => Object.assign(account, { nickname: odd }));
    bff.aggregator.transactions.set('acc', [row(0, { description: odd, id: odd })]);
    const { id } = await bff.connected(token);
    await sync(id);
    expect(JSON.parse(String((await stored())[0]?.['wire']))).toMatchObject({ description: odd });
    await sync(id, 7 * hour);
    bff.aggregator.transactions.set('acc', [row(0, { description: `${odd}!`, id: odd })]);
    await sync(id, 14 * hour);
    expect((await log()).map((entry) => entry['kind'])).toEqual(['added', 'modified']);
  });

  it('advances nothing when a page is short or the total changes on the way', async () => {
    bff.aggregator.transactions.set(
      'acc',
      Array.from({ length: 1_500 }, (_, index) => row(index)),
    );
    bff.aggregator.onPage = (offset) => {
      if (offset > 0) bff.aggregator.transactions.get('acc')?.pop();
    };
    const { id } = await bff.connected(token);
    await sync(id);
    expect(await stored()).toEqual([]);
    expect(await log()).toEqual([]);
    expect(await connection(id)).toMatchObject({
      status: 'active',
      health: 'degraded',
      sync: { status: 'incomplete', problem: 'incomplete-answer' },
    });
  });

  it('is degraded and tries again after a passing fault, and well again after that', async () => {
    const { id } = await bff.connected(token);
    bff.aggregator.fail({
      route: 'GET /accounts/:id/transactions',
      status: 424,
      times: 9,
      body: { error: { institutionError: { httpStatusCode: 500 } } },
    });
    await sync(id);
    const ill = await connection(id);
    expect(ill).toMatchObject({ status: 'active', health: 'degraded', sync: { problem: 'institution-failed' } });
    expect(ill.lastSyncedAt).toBeUndefined();
    bff.aggregator.heal();
    await sync(id, 60_000);
    expect(await connection(id)).toMatchObject({ status: 'active', health: 'healthy' });
    expect(await stored()).toHaveLength(2);
  });

  it('asks for the user only on a proof', async () => {
    const { id, consentId } = await bff.connected(token);
    bff.aggregator.fail({
      route: 'GET /accounts',
      status: 424,
      times: 9,
      body: { error: { institutionError: { httpStatusCode: 403 } } },
    });
    await sync(id);
    expect((await connection(id)).status).toBe('active');
    const consent = bff.aggregator.consents.get(consentId);
    if (consent) consent.status = 'REVOKED';
    await sync(id, hour);
    expect(await connection(id)).toMatchObject({ status: 'needs-user', reason: 'institution-refused' });
    expect((await connection(id)).nextSyncAt).toBeUndefined();
  });

  it('stops at a consent that is refused', async () => {
    const { id, consentId } = await bff.connected(token);
    const consent = bff.aggregator.consents.get(consentId);
    if (consent) consent.deleted = true;
    await sync(id);
    expect(await connection(id)).toMatchObject({ status: 'needs-user', reason: 'consent-refused' });
  });

  it('runs once when two workers start it', async () => {
    const { id } = await bff.connected(token);
    await Promise.all([sync(id), sync(id), sync(id)]);
    expect(bff.aggregator.callsOf('GET /accounts')).toHaveLength(1);
    expect(await stored()).toHaveLength(2);
    await sync(id);
    expect(bff.aggregator.callsOf('GET /accounts')).toHaveLength(1);
  });

  it('is taken up by another worker when the first has died, and what a late one brings is refused', async () => {
    const { id } = await bff.connected(token);
    const { pool } = bff.db;
    let arrived = (): void => {};
    const atBank = new Promise<void>((done) => (arrived = done));
    let answer = (): void => {};
    const answered = new Promise<void>((done) => (answer = done));
    bff.aggregator.onPage = () => {
      bff.aggregator.onPage = () => {};
      arrived();
      return answered;
    };
    const slow = sync(id);
    await atBank;
    await sync(id);
    expect(await stored()).toEqual([]);
    await sync(id, 60_000);
    expect(await stored()).toHaveLength(2);
    const before = await log();
    answer();
    await slow;
    expect(await log()).toEqual(before);
    const { rows } = await pool.query('select status, problem, accounts_done from sync_runs where connection_id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ status: 'completed', problem: null, accounts_done: 1 }]);
    expect((await connection(id)).health).toBe('healthy');
  });

  it('goes on with the other accounts when one fails', async () => {
    bff.aggregator.accounts.unshift({ id: 'broken', currency: 'GBP' });
    bff.aggregator.fail({
      route: 'GET /accounts/:id/balances',
      path: '/accounts/broken/balances',
      status: 500,
      times: 2,
    });
    const { id } = await bff.connected(token);
    await sync(id);
    expect(await connection(id)).toMatchObject({
      health: 'degraded',
      sync: { status: 'incomplete', accounts: 2, accountsDone: 1 },
    });
    expect(await stored()).toHaveLength(2);
  });

  it('keeps the account and its history under a new consent that calls it something else', async () => {
    const { id } = await bff.connected(token);
    await sync(id);
    const before = await stored();
    bff.aggregator.accounts = bff.aggregator.accounts.map((account) => ({ ...account, id: 'reminted' }));
    bff.aggregator.transactions = new Map([['reminted', [row(0), row(1), row(2)]]]);
    const renewed = await bff.connected(token);
    await sync(renewed.id);
    const { body } = await bff.ask<{ data: AccountView[] }>('GET /v1/accounts', { as: token });
    expect(body.data).toMatchObject([{ connectionId: renewed.id, id: before[0]?.['account_id'] }]);
    expect((await stored()).map((each) => each['id'])).toEqual([
      ...before.map((each) => each['id']),
      expect.any(String),
    ]);
  });
});
