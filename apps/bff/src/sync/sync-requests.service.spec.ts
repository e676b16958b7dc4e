import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { until } from '../../../../test/support/receiver.js';
import type { AccountView } from '../accounts/account.dto.js';
import { ProgressStreams } from './progress-streams.js';
import type { SyncRunView } from './sync-run.dto.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let customerId: string;
let customers = 0;
const hour = 3_600_000;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
});
afterAll(() => bff.close());
beforeEach(async () => {
  customers += 1;
  ({ token, customerId } = await bff.session(merchant, `customer-${customers}`));
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  bff.aggregator.transactions = new Map([['acc', []]]);
  bff.aggregator.onPage = () => {};
  bff.aggregator.heal();
  bff.aggregator.calls.length = 0;
});

const request = (id: string, as = token, headers: Record<string, string> = {}) =>
  bff.ask<SyncRunView & { issues: { code: string; message: string }[] }>(`POST /v1/connections/${id}/sync`, {
    as,
    headers,
  });
const byBackend = (id: string, more: Record<string, string> = {}) =>
  request(id, merchant.apiKey, { 'customer-id': customerId, ...more });
const run = (id: string, runId: string) =>
  bff.ask<SyncRunView>(`GET /v1/connections/${id}/sync-runs/${runId}`, { as: token });
const synced = async (): Promise<string> => {
  const { id } = await bff.connected(token);
  await bff.synchronise(id);
  return id;
};
const walks = () => bff.aggregator.callsOf('GET /accounts/:id/transactions');

describe('POST /v1/connections/{id}/sync', () => {
  it('reads at once for a customer who is present, tells the institution so, and leaves the budget alone', async () => {
    const id = await synced();
    for (let time = 0; time < 6; time += 1) {
      const { status, body } = await request(id);
      expect(status).toBe(202);
      expect(body).toMatchObject({ connectionId: id, status: 'running', attended: true, accounts: 1 });
      await bff.synchronise(id);
      expect((await run(id, body.id)).body).toMatchObject({ id: body.id, status: 'completed', accountsDone: 1 });
    }
    expect(walks()).toHaveLength(7);
    expect(walks().map(({ headers }) => headers['psu-ip-address'])).toEqual([
      undefined,
      ...Array.from({ length: 6 }, () => '127.0.0.1'),
    ]);
    const { rows } = await bff.db.pool.query('select calls from call_ledgers where connection_id = $1', [id]);
    expect(rows.map(({ calls }) => (calls as Date[]).length)).toEqual([1, 1, 1]);
    const { rows: kept } = await bff.db.pool.query('select 1 from sync_runs where sealed_psu is not null');
    expect(kept).toEqual([]);
  });

  it('takes the word of a backend for who is present, and counts where nobody is', async () => {
    const id = await synced();
    const attended = await byBackend(id, { 'psu-ip-address': '203.0.113.7' });
    expect(attended.body.attended).toBe(true);
    await bff.synchronise(id);
    expect(walks().at(-1)?.headers['psu-ip-address']).toBe('203.0.113.7');
    expect((await byBackend(id, { 'psu-ip-address': 'home' })).status).toBe(400);
    for (let time = 0; time < 3; time += 1) {
      expect((await byBackend(id)).body).toMatchObject({ attended: false, status: 'running' });
      await bff.synchronise(id);
    }
    const refused = await byBackend(id);
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThan(23 * 3_600);
    expect(seconds).toBeLessThanOrEqual(24 * 3_600 + 60);
    expect(refused.body.issues[0]?.code).toBe('NOT_DUE_YET');
    const { body } = await bff.ask<{ data: AccountView[] }>('GET /v1/accounts', { as: token });
    const possibleAt = body.data[0]?.sync?.nextPossibleAt ?? '';
    expect(refused.body.issues[0]?.message).toContain(possibleAt);
    expect((await request(id)).status).toBe(202);
  });

  it('is the run that is under way, however often it is asked for', async () => {
    const id = await synced();
    const asked = await Promise.all([request(id), request(id), request(id)]);
    const again = await request(id);
    expect(new Set([...asked, again].map(({ body }) => body.id)).size).toBe(1);
    await bff.synchronise(id);
    expect((await request(id)).body.id).not.toBe(again.body.id);
  });

  it('works when the first reading failed, and when the list of accounts did', async () => {
    bff.aggregator.fail({ route: 'GET /accounts/:id/transactions', status: 500 });
    const id = await synced();
    const { body } = await request(id);
    await bff.synchronise(id);
    expect((await run(id, body.id)).body.status).toBe('completed');
    bff.aggregator.accounts = [{ id: 'other', currency: 'EUR' }];
    bff.aggregator.fail({ route: 'GET /accounts', status: 500 });
    const unlisted = await synced();
    const second = await request(unlisted);
    expect(second.body.accounts).toBe(0);
    await bff.synchronise(unlisted);
    expect((await run(unlisted, second.body.id)).body).toMatchObject({ status: 'completed', accounts: 1 });
  });

  it('is refused for a connection that only its customer can bring back, and for one of somebody else', async () => {
    const id = await synced();
    const { token: stranger } = await bff.session(merchant, 'stranger');
    expect((await request(id, stranger)).status).toBe(404);
    await bff.db.pool.query(`update connections set status = 'needs-user' where id = $1`, [id]);
    expect((await request(id)).status).toBe(409);
  });

  it('tells every account and run what is wrong, whose it is, and when it is tried again', async () => {
    bff.aggregator.fail({ route: 'GET /accounts/:id/transactions', status: 424 });
    const id = await synced();
    const { body } = await bff.ask<{ data: AccountView[] }>('GET /v1/accounts', { as: token });
    const explanation = {
      reason: 'institution-failed',
      owner: 'institution',
      nextStep: 'wait',
      at: body.data[0]?.sync?.nextSyncAt,
    };
    expect(body.data[0]?.sync?.explanation).toEqual(explanation);
    const { rows } = await bff.db.pool.query<{ id: string }>('select id from sync_runs where connection_id = $1', [id]);
    expect((await run(id, rows[0]?.id ?? '')).body.explanation).toEqual(explanation);
    await later(hour, () => bff.synchronise(id));
    const well = await bff.ask<{ data: AccountView[] }>('GET /v1/accounts', { as: token });
    expect(well.body.data[0]?.sync?.explanation).toBeUndefined();
  });
});

/** The events of a stream that has ended, each with its data. */
function eventsOf(text: string): { event: string; data: SyncRunView }[] {
  const blocks = text.split('\n\n').filter((block) => block.startsWith('event: '));
  return blocks.map((block) => {
    const [event = '', data = ''] = block.split('\n');
    return { event: event.slice(7), data: JSON.parse(data.slice(6)) as SyncRunView };
  });
}

describe('GET /v1/connections/{id}/sync-runs/{runId}/progress', () => {
  it('tells every step to everybody who listens, and ends with the end', async () => {
    const shops = Array.from({ length: 2_500 }, (_, index) => ({
      id: `t${index}`,
      amount: index + 1,
      currency: 'GBP',
    }));
    bff.aggregator.transactions.set('acc', shops);
    const id = await synced();
    const { body } = await request(id);
    const follow = () => bff.ask(`GET /v1/connections/${id}/sync-runs/${body.id}/progress`, { as: token });
    const streams = bff.get(ProgressStreams);
    const following = Promise.all([follow(), follow()]);
    await until(() => streams.size === 2);
    // The bank is slow until both have been told of the page before.
    bff.aggregator.onPage = (offset) => (offset === 1_000 ? until(async () => (await told()) > 0) : undefined);
    const told = async () => {
      const { rows } = await bff.db.pool.query<{ pages: number }>('select pages from sync_runs where id = $1', [
        body.id,
      ]);
      return rows[0]?.pages ?? 0;
    };
    await bff.synchronise(id);
    for (const { status, headers, text } of await following) {
      expect(status).toBe(200);
      expect(headers['content-type']).toContain('text/event-stream');
      const events = eventsOf(text);
      expect(events[0]).toMatchObject({ event: 'progress', data: { status: 'running', accountsDone: 0 } });
      expect(events.at(-1)).toMatchObject({ event: 'end', data: { status: 'completed', pages: 3, rowsRead: 2_500 } });
    }
    await until(() => streams.size === 0);
    const late = await follow();
    expect(eventsOf(late.text)).toMatchObject([{ event: 'end', data: { id: body.id } }]);
    expect((await bff.ask(`GET /v1/connections/${id}/sync-runs/${id}/progress`, { as: token })).status).toBe(404);
  });

  it('forgets a client that hangs up', async () => {
    const id = await synced();
    const { body } = await request(id);
    const streams = bff.get(ProgressStreams);
    await bff.app.listen(0, '127.0.0.1');
    const { port } = bff.app.getHttpServer().address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/v1/connections/${id}/sync-runs/${body.id}/progress`;
    const client = get(url, { headers: { authorization: `Bearer ${token}` } });
    client.on('error', () => {});
    await until(() => streams.size === 1);
    client.destroy();
    await until(() => streams.size === 0);
    await bff.synchronise(id);
    expect((await run(id, body.id)).body.status).toBe('completed');
  });

  it('ends with the program, so that the client asks another process', async () => {
    const own = await TestBff.start();
    const session = await own.session(await own.merchant(), 'ada');
    own.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
    const { id } = await own.connected(session.token);
    await own.synchronise(id);
    const { body } = await own.ask<SyncRunView>(`POST /v1/connections/${id}/sync`, { as: session.token });
    const following = own.ask(`GET /v1/connections/${id}/sync-runs/${body.id}/progress`, { as: session.token });
    await until(() => own.get(ProgressStreams).size === 1);
    await own.close();
    expect((await following).text).toContain('retry: 1000');
  });
});
