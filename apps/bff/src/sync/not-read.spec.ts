import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { now } from '#libs/server';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { AccountView } from '../accounts/account.dto.js';
import type { ConnectionView } from '../connections/connection.dto.js';
import { AccountSync } from './account-sync.service.js';
import type { SyncRunView } from './sync-run.dto.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let connectionId: string;
let customers = 0;
const hourMs = 3_600_000;
const route = 'GET /accounts/:id/transactions';
const refusing = (institutionStatus: number) => ({
  status: 424,
  body: { error: { institutionError: { httpStatusCode: institutionStatus } } },
});

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
});
afterAll(() => bff.close());
beforeEach(async () => {
  customers += 1;
  ({ token } = await bff.session(merchant, `customer-${customers}`));
  bff.aggregator.accounts = ['one', 'two'].map((id) => ({ id, currency: 'GBP', nickname: id }));
  bff.aggregator.transactions = new Map([
    ['one', []],
    ['two', []],
  ]);
  bff.aggregator.heal();
  ({ id: connectionId } = await bff.connected(token));
});

const synchronise = (afterHours: number): Promise<void> =>
  later(afterHours * hourMs, () => bff.synchronise(connectionId));
const runsUrl = (): `GET /${string}` => `GET /v1/connections/${connectionId}/sync-runs`;
const connection = async (): Promise<ConnectionView> =>
  (await bff.ask<ConnectionView>(`GET /v1/connections/${connectionId}`, { as: token })).body;
/** The connection's last run. */
const lastRun = async (): Promise<SyncRunView> => {
  const { sync } = await connection();
  return (await bff.ask<SyncRunView>(`${runsUrl()}/${sync?.id}`, { as: token })).body;
};
const accountNamed = async (name: string): Promise<AccountView | undefined> =>
  (await bff.ask<{ data: AccountView[] }>('GET /v1/accounts', { as: token })).body.data.find(
    (account) => account.name === name,
  );
const wait = { owner: 'institution', nextStep: 'wait' };

describe('what a synchronisation did not read', () => {
  it('leaves nothing of what it did read of the account', async () => {
    const staged = async () => (await bff.db.pool.query('select 1 from staged_rows')).rowCount;
    const at = now().toISOString();
    const row = (n: number) => ({ id: String(n), date: at, status: 'BOOKED', amount: n, currency: 'GBP' }) as const;
    bff.aggregator.accounts = [{ id: 'one', currency: 'GBP' }];
    bff.aggregator.transactions.set(
      'one',
      Array.from({ length: 1_001 }, (_, n) => row(n)),
    );
    let seen: number | null = null;
    bff.aggregator.onPage = async (offset) => void (offset > 0 && (seen = await staged()));
    bff.aggregator.onTransactions = (query) => (Number(query.get('offset') ?? 0) > 0 ? refusing(500) : undefined);
    await synchronise(0);
    bff.aggregator.onTransactions = () => undefined;
    expect(await lastRun()).toMatchObject({ status: 'incomplete' });
    expect([seen, await staged()]).toEqual([1_000, 0]);
  });

  it('is nothing where it is complete', async () => {
    await synchronise(0);
    const run = await lastRun();
    expect(run).toMatchObject({ status: 'completed', notRead: [] });
    expect(run.nextPossibleAt).toBeUndefined();
  });

  it('is told of each account with the reason and when it is possible, and of a stream’s end too', async () => {
    await synchronise(0);
    const path = '/accounts/two/transactions';
    bff.aggregator.fail({ route, path, ...refusing(429), headers: { 'retry-after': '7200' } });
    await synchronise(7);
    const run = await lastRun();
    const two = await accountNamed('two');
    const at = two?.sync?.nextPossibleAt;
    expect(Math.round((Date.parse(at ?? '') - now().getTime()) / hourMs)).toBe(9);
    expect(run).toMatchObject({ status: 'incomplete', accounts: 2, accountsDone: 1, accountsNotDue: 1 });
    expect(run.nextPossibleAt).toBe(at);
    const explanation = { reason: 'not-due-yet', ...wait, at };
    const scopes = ['balances', 'transactions'];
    expect(run.notRead).toEqual([{ accountId: two?.id, scopes, nextPossibleAt: at, explanation }]);
    expect((await connection()).health).toBe('healthy');
    const { text } = await bff.ask(`${runsUrl()}/${run.id}/progress`, { as: token });
    expect(text).toContain(`"notRead":${JSON.stringify(run.notRead)}`);
  });

  it('is the balances alone where only the calls for them are spent', async () => {
    await synchronise(0);
    const one = await accountNamed('one');
    const spentAt = now().getTime() + 6 * hourMs;
    await bff.db.pool.query(`update call_ledgers set calls = $2 where subject_id = $1 and scope = 'balances'`, [
      one?.id,
      [1, 2, 3, 4].map((minute) => new Date(spentAt + minute * 60_000)),
    ]);
    await synchronise(7);
    const run = await lastRun();
    expect(run).toMatchObject({ status: 'incomplete', accountsDone: 2, notRead: [{ accountId: one?.id }] });
    expect(run.notRead[0]?.scopes).toEqual(['balances']);
    expect(Math.round((Date.parse(run.nextPossibleAt ?? '') - spentAt) / hourMs)).toBe(24);
  });

  it('is explained by a fault rather than by a wait, and each account by its own', async () => {
    await synchronise(0);
    bff.aggregator.fail({ route, path: '/accounts/one/transactions', ...refusing(429) });
    bff.aggregator.fail({ route, path: '/accounts/two/transactions', ...refusing(500) });
    await synchronise(7);
    const run = await lastRun();
    expect(run.explanation?.reason).toBe('institution-failed');
    const reasons = run.notRead.map(({ accountId, explanation: { reason } }) => [accountId, reason]);
    const [one, two] = [await accountNamed('one'), await accountNamed('two')];
    expect(new Map(reasons as [string, string][])).toEqual(
      new Map([
        [one?.id, 'not-due-yet'],
        [two?.id, 'institution-failed'],
      ]),
    );
    expect((await connection()).health).toBe('degraded');
  });

  it('is nothing any more where a second try in the same run has read it', async () => {
    await synchronise(0);
    bff.aggregator.fail({ route, path: '/accounts/one/transactions', ...refusing(500) });
    const [one, two] = [await accountNamed('one'), await accountNamed('two')];
    const read = (id = '', minutes = 0): Promise<void> =>
      later(7 * hourMs + minutes * 60_000, () => bff.get(AccountSync).run(id));
    await read(one?.id);
    expect(await lastRun()).toMatchObject({ status: 'running', notRead: [{ accountId: one?.id }] });
    await read(one?.id, 5);
    expect(await lastRun()).toMatchObject({ status: 'running', notRead: [] });
    await read(two?.id, 5);
    const { status, notRead, explanation } = await lastRun();
    expect([status, notRead, explanation]).toEqual(['completed', [], undefined]);
  });

  it('is the list of accounts where that was refused', async () => {
    bff.aggregator.fail({ route: 'GET /accounts', ...refusing(429), headers: { 'retry-after': '7200' } });
    await synchronise(0);
    const { status, notRead } = await lastRun();
    expect(status).toBe('failed');
    expect(notRead).toMatchObject([{ scopes: ['accounts'], explanation: { reason: 'not-due-yet', ...wait } }]);
    expect(notRead[0]?.accountId).toBeUndefined();
    expect(Math.round((Date.parse(notRead[0]?.nextPossibleAt ?? '') - now().getTime()) / hourMs)).toBe(2);
  });
});
