import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { now } from '#libs/server';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { ConnectionView } from '../connections/connection.dto.js';
import type { ConnectionForecast, ForecastPage } from './forecast.dto.js';
import { Notices } from './notices.service.js';

const dayMs = 86_400_000;
let bff: TestBff;
let merchant: TestMerchant;
let token: string;

const ahead = (days: number): string => new Date(now().getTime() + days * dayMs).toISOString();

beforeAll(async () => {
  bff = await TestBff.start();
});
afterAll(() => bff.close());
beforeEach(async () => {
  merchant = await bff.merchant();
  ({ token } = await bff.session(merchant, 'ada'));
});

/** A connection whose consent ends so many days from now. */
async function endingIn(days: number, as = token): Promise<string> {
  bff.aggregator.terms = { authorizedAt: ahead(0), expiresAt: ahead(days), featureScope: ['ACCOUNTS'] };
  return (await bff.connected(as)).id;
}
const tick = (days: number) => later(days * dayMs, () => bff.get(Notices).run());
async function told(id: string): Promise<Record<string, unknown>[]> {
  const { rows } = await bff.db.pool.query<{ data: string }>(
    "select data from events where type = 'connection.expiring' and merchant_id = $1 order by sequence",
    [merchant.id],
  );
  const all = rows.map(({ data }) => JSON.parse(data) as Record<string, unknown>);
  return all.filter(({ connectionId }) => connectionId === id);
}

describe('what the operator knows of an institution', () => {
  it('counts before the law of its country', async () => {
    await bff.db.pool.query(
      `insert into institution_reaches (institution_id, sca_days, updated_at) values ('bank', 20, now())`,
    );
    const id = await endingIn(40);
    await bff.db.pool.query(`delete from institution_reaches where institution_id = 'bank'`);
    const { body } = await bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as: token });
    expect(body.forecast).toMatchObject({ cause: 'sca-age', daysLeft: 20 });
  });
});

describe('the merchant', () => {
  it('is told of the end 30, 14, 7 and 1 days ahead and when it has come, with what to do', async () => {
    const id = await endingIn(40);
    for (const days of [5, 11, 20, 27, 34, 39.5, 41, 50]) await tick(days);
    const events = await told(id);
    expect(events.map(({ notice, daysLeft }) => [notice, daysLeft])).toEqual([
      [30, 29],
      [14, 13],
      [7, 6],
      [1, 1],
      [0, 0],
    ]);
    expect(events[0]).toMatchObject({
      cause: 'consent-expiry',
      action: 'renew',
      institutionId: 'bank',
      link: `/v1/connections/${id}/renewals`,
    });
    const { body } = await bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as: token });
    expect(body).toMatchObject({ status: 'needs-user', reason: 'consent-expiry' });
  });

  it('gets no burst after a standstill, and nothing about an end that a renewal has moved', async () => {
    const [late, renewed] = [await endingIn(40), await endingIn(40)];
    await tick(35);
    expect((await told(late)).map(({ notice }) => notice)).toEqual([7]);
    const begun = await bff.ask<{ authorisationUrl: string }>(`POST /v1/connections/${renewed}/renewals`, {
      as: token,
      body: {},
    });
    bff.aggregator.terms = { expiresAt: ahead(300) };
    const back = bff.aggregator.approve(new URL(begun.body.authorisationUrl).searchParams.get('consent') ?? '');
    await bff.ask(`GET ${back.pathname}${back.search}` as `GET /${string}`);
    await tick(60);
    expect((await told(late)).map(({ notice }) => notice)).toEqual([7, 0]);
    expect((await told(renewed)).map(({ notice }) => notice)).toEqual([7]);
  });

  it('is told once, however many workers look at once, in batches', async () => {
    const one = await endingIn(10);
    await bff.db.pool.query(
      `insert into connections (id, customer_id, merchant_id, institution_id, status, created_at, stops_at, stop_cause, next_notice_at)
       select gen_random_uuid(), customer_id, merchant_id, institution_id, 'active', created_at, stops_at, stop_cause, next_notice_at
       from connections, generate_series(1, 449) where id = $1`,
      [one],
    );
    const runs = await later(5 * dayMs, () =>
      Promise.all([bff.get(Notices).run(), bff.get(Notices).run(), bff.get(Notices).run()]),
    );
    expect(runs.reduce((sum, run) => sum + run)).toBe(450);
    const { rows } = await bff.db.pool.query(
      `select count(*)::int as n, count(distinct data::json->>'connectionId')::int as connections, max(sequence)::int - min(sequence)::int as span
       from events where merchant_id = $1 and type = 'connection.expiring'`,
      [merchant.id],
    );
    expect(rows).toEqual([{ n: 450, connections: 450, span: 449 }]);
  });
});

describe('the forecast', () => {
  it('says which data will stop, when, why and what to do', async () => {
    const id = await endingIn(12);
    const { body } = await bff.ask<ConnectionForecast>(`GET /v1/connections/${id}/forecast`, { as: token });
    expect(body).toMatchObject({
      connectionId: id,
      outlook: 'ahead',
      daysLeft: 12,
      cause: 'consent-expiry',
      owner: 'customer',
      action: 'renew',
      data: ['ACCOUNTS'],
      clocks: [{ clock: 'consent-expiry' }],
      accountIds: [],
    });
    const { token: bob } = await bff.session(merchant, 'bob');
    expect((await bff.ask(`GET /v1/connections/${id}/forecast`, { as: bob })).status).toBe(404);
  });

  it('tells of a fault that passes beside the end, and of a connection that has no end', async () => {
    bff.aggregator.terms = {};
    const { id } = await bff.connected(token);
    await bff.db.pool.query("update connections set health = 'degraded' where id = $1", [id]);
    await bff.db.pool.query(
      "insert into sync_runs (id, connection_id, status, started_at, problem) values (gen_random_uuid(), $1, 'failed', now(), 'institution-failed')",
      [id],
    );
    const { body } = await bff.ask<ConnectionForecast>(`GET /v1/connections/${id}/forecast`, { as: token });
    expect(body).toMatchObject({
      outlook: 'steady',
      action: 'nothing',
      owner: 'nobody',
      interruption: { cause: 'institution-failed', owner: 'institution', nextAttemptAt: expect.any(String) },
    });
  });

  it('lists for a merchant’s backend what stops before an instant, soonest first, page by page', async () => {
    const ids: string[] = [];
    for (const days of [20, 5, 12, 100]) ids.push(await endingIn(days));
    const { token: bob } = await bff.session(merchant, 'bob');
    ids.push(await endingIn(8, bob));
    const list = (query: string) => bff.ask<ForecastPage>(`GET /v1/forecast${query}`, { as: merchant.apiKey });
    const wanted = [ids[1], ids[4], ids[2], ids[0]];
    expect((await list('')).body.data.map(({ connectionId }) => connectionId)).toEqual(wanted);
    const seen: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const { body }: { body: ForecastPage } = await list(`?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...body.data.map(({ connectionId }) => connectionId));
      cursor = body.nextCursor;
    }
    expect(seen).toEqual(wanted);
    expect((await list(`?before=${ahead(10)}`)).body.data).toHaveLength(2);
    expect((await list(`?before=${ahead(200)}`)).body.data).toHaveLength(5);
    expect((await list('?cursor=nonsense')).status).toBe(400);
    expect((await bff.ask('GET /v1/forecast', { as: token })).status).toBe(401);
    const other = await bff.merchant('Other Shop');
    expect((await bff.ask<ForecastPage>('GET /v1/forecast', { as: other.apiKey })).body.data).toEqual([]);
  });
});
