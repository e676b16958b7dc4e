import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { now } from '#libs/server';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { SyncRunView } from './sync-run.dto.js';

const customerAt = '198.51.100.7';
const minuteMs = 60_000;

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let customers = 0;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
});
afterAll(() => bff.close());
beforeEach(async () => {
  customers += 1;
  ({ token } = await bff.session(merchant, `customer-${customers}`));
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  bff.aggregator.transactions = new Map([['acc', []]]);
  bff.aggregator.heal();
  bff.aggregator.calls.length = 0;
});

const reads = ['GET /accounts', 'GET /accounts/:id/balances', 'GET /accounts/:id/transactions'];
/** The customer's address in each read, in the order of the reads. */
const told = () =>
  reads.flatMap((route) => bff.aggregator.callsOf(route)).map(({ headers }) => headers['psu-ip-address']);
const counted = async (id: string): Promise<number> => {
  const text = 'select coalesce(sum(cardinality(calls)), 0)::int as calls from call_ledgers where connection_id = $1';
  return (await bff.db.pool.query<{ calls: number }>(text, [id])).rows[0]?.calls ?? 0;
};
const lastRun = async (id: string) =>
  (await bff.ask<{ sync: SyncRunView }>(`GET /v1/connections/${id}`, { as: token })).body.sync;
const walked = () => bff.aggregator.callsOf('GET /accounts/:id/transactions').map(({ query }) => query.get('from'));

describe('the first reading after the customer came back from the bank', () => {
  it('is made in their presence: the institution is told their address, and no call counts', async () => {
    const { id } = await bff.connected(token, 'bank', customerAt);
    await bff.synchronise(id);
    expect(told()).toEqual([customerAt, customerAt, customerAt]);
    expect(await counted(id)).toBe(0);
    expect((await lastRun(id)).status).toBe('completed');
    const { rows } = await bff.db.pool.query('select attended, sealed_psu from sync_runs where connection_id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ attended: true, sealed_psu: null }]);
    await later(7 * 60 * minuteMs, () => bff.synchronise(id));
    expect(told().filter((address) => address === undefined)).toHaveLength(2);
    expect(await counted(id)).toBe(2);
  });

  it('counts where nobody knows who came back', async () => {
    const { id } = await bff.connected(token);
    await bff.synchronise(id);
    expect(told()).toEqual([undefined, undefined, undefined]);
    expect(await counted(id)).toBe(3);
  });

  it('counts when it is made so late that the customer has gone', async () => {
    const { id } = await bff.connected(token, 'bank', customerAt);
    await later(16 * minuteMs, () => bff.synchronise(id));
    expect(told()).toEqual([undefined, undefined, undefined]);
    expect(await counted(id)).toBe(3);
  });

  it('reads the whole history again after a renewal, in their presence too', async () => {
    const { id } = await bff.connected(token, 'bank', customerAt);
    await bff.synchronise(id);
    const renewed = await bff.ask<{ authorisationUrl: string }>(`POST /v1/connections/${id}/renewals`, {
      as: token,
      body: {},
      from: customerAt,
    });
    bff.aggregator.calls.length = 0;
    bff.aggregator.terms = { authorizedAt: now().toISOString() };
    const back = bff.aggregator.approve(new URL(renewed.body.authorisationUrl).searchParams.get('consent') ?? '');
    await bff.ask(`GET ${back.pathname}${back.search}` as `GET /${string}`, { from: customerAt });
    await bff.synchronise(id);
    expect(told()).toEqual([customerAt, customerAt, customerAt]);
    expect(walked()).toEqual([null]);
    expect(await counted(id)).toBe(0);
  });
});

describe('a run that is under way when the customer comes', () => {
  it('goes on in their presence', async () => {
    const { id } = await bff.connected(token);
    const [{ id: runId } = { id: '' }] = (
      await bff.db.pool.query<{ id: string }>(
        `insert into sync_runs (id, connection_id, status, started_at) values (gen_random_uuid(), $1, 'running', now()) returning id`,
        [id],
      )
    ).rows;
    const asked = await bff.ask<SyncRunView>(`POST /v1/connections/${id}/sync`, { as: token, from: customerAt });
    expect(asked.body).toMatchObject({ id: runId, attended: true });
    await bff.synchronise(id);
    expect(told()).toEqual([customerAt, customerAt, customerAt]);
    expect(await counted(id)).toBe(0);
  });
});
