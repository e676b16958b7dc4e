import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signWebhook } from '#libs/client';
import { transaction } from '#libs/database';
import { now } from '#libs/server';
import { later, TestBff } from '../../../../test/support/bff.js';
import { IngestionProcessor } from '../ingestion/ingestion.processor.js';
import { IngestionWorkerModule } from '../ingestion/ingestion-worker.module.js';
import { newAccount } from '../sync/recorded-account.fixture.js';
import { WebhooksWorkerModule } from '../webhooks/webhooks-worker.module.js';
import type { EventPage } from './event.dto.js';
import { appendEvent } from './event-log.js';
import { RetentionService } from './retention.service.js';

const day = 86_400_000;
let bff: TestBff;

beforeAll(async () => {
  bff = await TestBff.start({ modules: [WebhooksWorkerModule, IngestionWorkerModule] });
});
afterAll(() => bff.close());

it('forgets events with their deliveries after their retention, and refuses a pull from before', async () => {
  const merchant = await bff.merchant();
  const body = { url: 'https://shop.example/' };
  await bff.ask('POST /v1/webhook-endpoints', { as: merchant.apiKey, body });
  const append = () =>
    transaction(bff.db.pool, (tx) => appendEvent(tx, { merchantId: merchant.id, type: 'payment.updated', data: {} }));
  for (const days of [-40, -35, -29, 0]) await later(days * day, append);
  await bff.get(RetentionService).sweep();
  const pull = (query: string) => bff.ask<EventPage>(`GET /v1/events${query}`, { as: merchant.apiKey });
  expect((await pull('')).body.data.map(({ sequence }) => sequence)).toEqual([3, 4]);
  expect((await pull('?after=2')).body.data).toHaveLength(2);
  const refused = await pull('?after=1');
  expect(refused.status).toBe(410);
  expect(JSON.parse(refused.text)).toMatchObject({
    title: 'Gone',
    code: 'EVENTS_NO_LONGER_KEPT',
    issues: [{ parameter: 'after', message: expect.stringContaining('after=2') }],
  });
  const replay = { as: merchant.apiKey, body: { after: 0 } };
  expect((await bff.ask('POST /v1/events/replay', replay)).status).toBe(410);
  const left = await bff.db.pool.query('select 1 from webhook_deliveries where merchant_id = $1', [merchant.id]);
  expect(left.rowCount).toBe(2);
  await later(31 * day, () => bff.get(RetentionService).sweep());
  await append();
  expect((await pull('?after=4')).body.data.map(({ sequence }) => sequence)).toEqual([5]);
});

it('forgets webhooks that were dealt with, and none that is still open', async () => {
  const merchant = await bff.merchant('Other Shop');
  const secret = bff.aggregator.webhooks.at(-1)?.webhookSecret ?? '';
  const send = (type: string, event: object) => {
    const body = JSON.stringify({ id: randomUUID(), applicationId: merchant.subApplicationId, type, event });
    const headers = { 'content-type': 'application/json', 'webhook-signature': signWebhook(body, secret) };
    return bff.ask('POST /v1/webhooks/aggregator', { body, headers });
  };
  expect((await send('something.new.v1', {})).status).toBe(204);
  expect((await send('payment.state.success', { id: 'pv3-early' })).status).toBe(204);
  await bff.get(IngestionProcessor).handleDue();
  const statuses = async () =>
    (await bff.db.pool.query('select status from inbound_events where merchant_id = $1 order by type', [merchant.id]))
      .rows;
  await expect.poll(statuses).toEqual([{ status: 'parked' }, { status: 'done' }]);
  await bff.get(RetentionService).sweep();
  expect(await statuses()).toHaveLength(2);
  await later(31 * day, () => bff.get(RetentionService).sweep());
  expect(await statuses()).toEqual([{ status: 'parked' }]);
});

it('forgets ended synchronisations, but never the last that has shown accounts', async () => {
  const { token } = await bff.session(await bff.merchant('Reading Shop'), 'ada');
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  const { id } = await bff.connected(token);
  const text = `insert into sync_runs (id, connection_id, status, started_at, ended_at, accounts)
    values (gen_random_uuid(), $1, 'completed', $2, $2, $3)`;
  const at = (days: number) => new Date(now().getTime() - days * day);
  for (const [days, accounts] of [
    [60, 1],
    [50, 1],
    [40, 0],
    [20, 0],
  ] as const)
    await bff.db.pool.query(text, [id, at(days), accounts]);
  await bff.get(RetentionService).sweep();
  const { rows } = await bff.db.pool.query<{ days: number }>(
    `select round(extract(epoch from now() - started_at) / 86400)::int as days from sync_runs where connection_id = $1 order by 1`,
    [id],
  );
  expect(rows.map(({ days }) => days)).toEqual([20, 40, 50]);
});

it('forgets proofs and the money of the deleted when their time has come, and not before', async () => {
  const { id: merchantId } = await bff.merchant('Proof Shop');
  await bff.db.pool.query(
    `insert into payment_records (id, merchant_id, institution_id, status, amount, currency, created_at)
     values (gen_random_uuid(), $1, 'bank', 'COMPLETED', 5, 'GBP', now())`,
    [merchantId],
  );
  await bff.db.pool.query(
    `insert into deletions (id, merchant_id, requested_at, completed_at) values (gen_random_uuid(), $1, now(), now())`,
    [merchantId],
  );
  const left = async (): Promise<number[]> => {
    const counted = ['deletions', 'payment_records'].map((table) =>
      bff.db.pool.query(`select 1 from ${table} where merchant_id = $1`, [merchantId]),
    );
    return (await Promise.all(counted)).map(({ rowCount }) => rowCount ?? 0);
  };
  await later(1_095 * day, () => bff.get(RetentionService).sweep());
  expect(await left()).toEqual([1, 1]);
  await later(1_098 * day, () => bff.get(RetentionService).sweep());
  expect(await left()).toEqual([0, 1]);
  await later(2_558 * day, () => bff.get(RetentionService).sweep());
  expect(await left()).toEqual([0, 0]);
});

it('forgets rows put aside for an account that is gone, and leaves those of a reading under way', async () => {
  const { accountId } = await newAccount(bff.db.pool);
  await bff.db.pool.query(
    `insert into staged_rows (answer_id, account_id, ordinal, status, fingerprint, served)
     select gen_random_uuid(), id, 1, 'BOOKED', 'f', '{}' from unnest($1::uuid[]) as u(id)`,
    [[accountId, randomUUID()]],
  );
  await bff.get(RetentionService).sweep();
  const { rows } = await bff.db.pool.query('select account_id from staged_rows');
  expect(rows).toEqual([{ account_id: accountId }]);
});
