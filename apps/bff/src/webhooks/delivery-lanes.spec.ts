import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '#libs/database';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { type Receiver, startReceiver, until } from '../../../../test/support/receiver.js';
import { appendEvent } from '../events/event-log.js';
import { WebhooksWorkerModule } from './webhooks-worker.module.js';
import { takeDueDeliveries } from './delivery-lanes.js';
import { WebhooksProcessor } from './webhooks.processor.js';

let bff: TestBff;
let slow: Receiver;
let quick: Receiver;

beforeAll(async () => {
  bff = await TestBff.start({ env: { WEBHOOK_TIMEOUT_MS: 30_000 }, modules: [WebhooksWorkerModule], workers: true });
});
afterAll(() => bff.close());
beforeEach(async () => {
  [slow, quick] = await Promise.all([startReceiver(), startReceiver()]);
  await bff.db.pool.query('delete from webhook_endpoints');
});
afterEach(() => Promise.all([slow.close(), quick.close()]));

async function subscribed(receiver: Receiver): Promise<{ merchant: TestMerchant; endpointId: string }> {
  const merchant = await bff.merchant(`Shop ${randomUUID().slice(0, 8)}`);
  const body = { url: `${receiver.url}/hook` };
  const made = await bff.ask<{ id: string }>('POST /v1/webhook-endpoints', { as: merchant.apiKey, body });
  return { merchant, endpointId: made.body.id };
}

async function append({ id: merchantId }: TestMerchant, events: number): Promise<void> {
  await transaction(bff.db.pool, async (tx) => {
    for (let nth = 0; nth < events; nth += 1)
      await appendEvent(tx, { merchantId, type: 'payment.completed', data: { paymentId: randomUUID() } });
  });
}

const tick = () => bff.get(WebhooksProcessor).process({ name: 'tick', data: {}, queueName: 'webhooks' } as never);

const waiting = async (endpointId: string): Promise<number> => {
  const text = `select count(*)::int as waiting from webhook_deliveries where endpoint_id = $1 and status = 'pending'`;
  return (await bff.db.pool.query<{ waiting: number }>(text, [endpointId])).rows[0]?.waiting ?? 0;
};

describe('an endpoint that never answers', () => {
  it('holds its lanes and no more, while the events of others arrive', async () => {
    slow.answer = 'hang';
    const [one, other] = [await subscribed(slow), await subscribed(quick)];
    await append(one.merchant, 500);
    await append(other.merchant, 50);
    await tick();
    await until(async () => (await waiting(other.endpointId)) === 0);
    await tick();
    expect(quick.received).toHaveLength(50);
    expect(new Set(quick.received.map(({ headers }) => headers['webhook-id'])).size).toBe(50);
    await until(() => slow.received.length === 4);
    expect(await waiting(one.endpointId)).toBe(500);
  });
});

describe('the deliveries that are due', () => {
  it('are taken a few of each endpoint, the oldest first, and only one of an endpoint that fails', async () => {
    const [one, other] = [await subscribed(slow), await subscribed(quick)];
    await append(one.merchant, 10);
    await append(other.merchant, 10);
    await bff.db.pool.query('update webhook_endpoints set failing_since = now() where id = $1', [one.endpointId]);
    const taken = [...(await takeDueDeliveries(bff.db.pool)), ...(await takeDueDeliveries(bff.db.pool))];
    const { rows } = await bff.db.pool.query<{ endpoint_id: string }>(
      'select endpoint_id from webhook_deliveries where id = any($1)',
      [taken],
    );
    const ofEach = [one, other].map(({ endpointId }) => rows.filter((row) => row.endpoint_id === endpointId).length);
    expect(ofEach).toEqual([1, 4]);
  });
});
