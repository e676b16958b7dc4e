import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signWebhook } from '#libs/client';
import { transaction } from '#libs/database';
import { later, TestBff } from '../../../../test/support/bff.js';
import { IngestionProcessor } from '../ingestion/ingestion.processor.js';
import { IngestionWorkerModule } from '../ingestion/ingestion-worker.module.js';
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
