import { createHmac, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '#libs/database';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { type Receiver, startReceiver } from '../../../../test/support/receiver.js';
import { appendEvent, type NewEvent } from '../events/event-log.js';
import type { EventPage } from '../events/event.dto.js';
import { DeadDeliveries } from './dead-deliveries.js';
import { DeliveriesService } from './deliveries.service.js';
import type { DeliveryPage, EndpointView, EndpointWithSecret } from './endpoint.dto.js';
import type { ReplayView } from './replay.dto.js';
import { WebhooksWorkerModule } from './webhooks-worker.module.js';

const patienceMs = 15_000;

let bff: TestBff;
let merchant: TestMerchant;
let receiver: Receiver;

beforeAll(async () => {
  bff = await TestBff.start({ modules: [WebhooksWorkerModule] });
});
afterAll(() => bff.close());
beforeEach(async () => {
  receiver = await startReceiver();
  merchant = await bff.merchant(`Shop ${randomUUID().slice(0, 8)}`);
});
afterEach(async () => {
  bff.env.WEBHOOK_TIMEOUT_MS = patienceMs;
  await receiver.close();
});

async function subscribe(change: object = {}): Promise<EndpointWithSecret> {
  const body = { url: `${receiver.url}/hook`, ...change };
  const made = await bff.ask<EndpointWithSecret>('POST /v1/webhook-endpoints', { as: merchant.apiKey, body });
  expect(made.status).toBe(201);
  return made.body;
}

async function append(event: Partial<NewEvent> = {}) {
  const data = { paymentId: randomUUID(), status: 'COMPLETED' };
  const appended = await transaction(bff.db.pool, (tx) =>
    appendEvent(tx, { merchantId: merchant.id, type: 'payment.completed', data, ...event }),
  );
  return { id: appended?.id ?? '', data };
}

/** Makes one attempt at every delivery of the merchant that is still to be made, `ms` from now. */
async function deliver(ms = 0): Promise<void> {
  const { rows } = await bff.db.pool.query<{ id: string }>(
    `select id from webhook_deliveries where merchant_id = $1 and status = 'pending' order by created_at`,
    [merchant.id],
  );
  for (const { id } of rows) await later(ms, () => bff.get(DeliveriesService).deliver(id));
}

const deliveries = async (id: string, query = '') =>
  (await bff.ask<DeliveryPage>(`GET /v1/webhook-endpoints/${id}/deliveries${query}`, { as: merchant.apiKey })).body;
const endpoint = async (id: string) =>
  (await bff.ask<EndpointView>(`GET /v1/webhook-endpoints/${id}`, { as: merchant.apiKey })).body;
const replay = (path: string, body: object = {}) =>
  bff.ask<ReplayView>(`POST /v1/events/${path}`, { as: merchant.apiKey, body });

/** What the receiver got last, as a receiver verifies it. */
function verified(secret: string, nth = -1): unknown {
  const { body = Buffer.alloc(0), headers = {} } = receiver.received.at(nth) ?? {};
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return new Webhook(secret).verify(body, texts);
}

describe('a merchant’s webhook', () => {
  it('is written with its event, sent once, and verifies by the Standard Webhooks library', async () => {
    const { id, secret } = await subscribe();
    const event = await append();
    await deliver();
    expect(verified(secret)).toEqual({
      id: event.id,
      sequence: 1,
      type: 'payment.completed',
      data: event.data,
      timestamp: expect.any(String),
    });
    expect(receiver.received[0]?.headers).toMatchObject({
      'webhook-id': event.id,
      'content-type': expect.stringContaining('json'),
    });
    expect(() => verified(`whsec_${Buffer.alloc(32).toString('base64')}`)).toThrow('No matching signature found');
    await deliver();
    expect(receiver.received).toHaveLength(1);
    expect((await deliveries(id)).data).toMatchObject([
      { eventId: event.id, sequence: 1, status: 'delivered', attempts: [{ httpStatus: 204 }] },
    ]);
  });

  it('is not written when the change is rolled back, nor for another type, nor for another merchant', async () => {
    await subscribe({ types: ['payment.failed'] });
    await append();
    const other = await bff.merchant('Other Shop');
    await append({ merchantId: other.id, type: 'payment.failed' });
    const failing = transaction(bff.db.pool, async (tx) => {
      await appendEvent(tx, { merchantId: merchant.id, type: 'payment.failed', data: {} });
      throw new Error('The change failed');
    });
    await expect(failing).rejects.toThrow('The change failed');
    await deliver();
    expect(receiver.received).toEqual([]);
    await append({ type: 'payment.failed' });
    await deliver();
    expect(receiver.received).toHaveLength(1);
  });

  it('is sent again with waits that grow, the same body, and another signature', async () => {
    const { id, secret } = await subscribe();
    receiver.answer = 500;
    await append();
    const dues: number[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await deliver(attempt * 1_000);
      const [delivery] = (await deliveries(id)).data;
      dues.push(Date.parse(delivery?.nextAttemptAt ?? '') - Date.parse(delivery?.attempts[0]?.startedAt ?? ''));
    }
    expect(dues.map((ms) => [5_000, 300_000, 1_800_000].findIndex((wait) => ms >= wait && ms <= wait * 1.3))).toEqual([
      0, 1, 2,
    ]);
    const bodies = receiver.received.map(({ body }) => body.toString());
    expect(new Set(bodies).size).toBe(1);
    const signatures = receiver.received.map(({ headers }) => headers['webhook-signature']);
    expect(new Set(signatures).size).toBe(3);
    expect(verified(secret)).toBeDefined();
    expect(await endpoint(id)).toMatchObject({ status: 'enabled', failingSince: expect.any(String) });
    receiver.answer = 204;
    await deliver();
    expect((await endpoint(id)).failingSince).toBeUndefined();
  });

  it.each([
    ['a redirect', 302, patienceMs, [{ httpStatus: 302 }]],
    ['silence', 'hang', 300, [{ failure: 'timeout' }]],
  ] as const)('takes %s for a failure', async (_what, answer, timeoutMs, attempts) => {
    const { id } = await subscribe();
    receiver.answer = answer;
    bff.env.WEBHOOK_TIMEOUT_MS = timeoutMs;
    await append();
    await deliver();
    expect((await deliveries(id, '?status=pending')).data).toMatchObject([{ status: 'pending', attempts }]);
  });

  it('is signed with both secrets while they are rotated, and with the new one afterwards', async () => {
    const { id, secret: old } = await subscribe();
    await append();
    const { body } = await bff.ask<EndpointWithSecret>(`POST /v1/webhook-endpoints/${id}/rotate-secret`, {
      as: merchant.apiKey,
      body: { overlapSeconds: 3_600 },
    });
    await deliver();
    expect(String(receiver.received[0]?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    expect([verified(old), verified(body.secret)]).toEqual([expect.anything(), expect.anything()]);
    await append();
    await deliver(3_601_000);
    const { body: bytes = '', headers = {} } = receiver.received[1] ?? {};
    const signed = createHmac('sha256', Buffer.from(body.secret.slice(6), 'base64'))
      .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`)
      .update(bytes);
    expect(headers['webhook-signature']).toBe(`v1,${signed.digest('base64')}`);
    const { rows } = await bff.db.pool.query('select * from endpoint_secrets where endpoint_id = $1', [id]);
    expect(JSON.stringify(rows)).not.toContain(body.secret);
  });

  it('ends for good when the receiver says 410, and for the merchant to see when it fails for three days', async () => {
    const { id } = await subscribe();
    receiver.answer = 410;
    await append();
    await append();
    await deliver();
    expect(await endpoint(id)).toMatchObject({ status: 'disabled', disabledReason: 'gone' });
    expect((await deliveries(id)).data.map(({ status }) => status)).toEqual(['dead', 'dead']);
    const failing = await subscribe();
    receiver.answer = 503;
    await append();
    await deliver();
    await deliver(71 * 3_600_000);
    expect((await endpoint(failing.id)).status).toBe('enabled');
    await deliver(72 * 3_600_000 + 1_000);
    expect(await endpoint(failing.id)).toMatchObject({ status: 'disabled', disabledReason: 'failing' });
    const { body } = await bff.ask<EventPage>('GET /v1/events?types=webhook_endpoint.disabled', {
      as: merchant.apiKey,
    });
    expect(body.data.map(({ data }) => data['reason'])).toEqual(['gone', 'failing']);
  });

  it('is pinged alone', async () => {
    const { id, secret } = await subscribe({ types: ['payment.failed'] });
    await subscribe({ url: `${receiver.url}/other` });
    expect((await bff.ask(`POST /v1/webhook-endpoints/${id}/ping`, { as: merchant.apiKey })).status).toBe(202);
    await deliver();
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
    expect(verified(secret)).toMatchObject({ type: 'webhook_endpoint.ping', data: { endpointId: id } });
  });
});

describe('a dead delivery', () => {
  it('is listed for the operator and sent again, once its endpoint is enabled', async () => {
    const { id, secret } = await subscribe();
    receiver.answer = 410;
    const event = await append();
    await deliver();
    const dead = new DeadDeliveries(bff.db.pool);
    const filter = { merchantId: merchant.id, type: 'payment.completed' };
    expect(await dead.list(filter)).toMatchObject([{ endpointId: id, eventId: event.id, attempts: 1 }]);
    expect(await dead.list({ ...filter, until: new Date(0) })).toEqual([]);
    expect(await dead.replay(filter)).toBe(0);
    await bff.ask(`PATCH /v1/webhook-endpoints/${id}`, { as: merchant.apiKey, body: { status: 'enabled' } });
    receiver.answer = 204;
    expect(await dead.replay({ ...filter, type: 'payment.failed' })).toBe(0);
    expect(await dead.replay(filter)).toBe(1);
    await deliver();
    expect(verified(secret)).toMatchObject({ id: event.id });
    expect(await dead.list(filter)).toEqual([]);
  });
});

describe('a replay', () => {
  it('sends an event again under its own id and the secret of now', async () => {
    const { id } = await subscribe();
    const event = await append();
    await deliver();
    const { body } = await bff.ask<EndpointWithSecret>(`POST /v1/webhook-endpoints/${id}/rotate-secret`, {
      as: merchant.apiKey,
      body: { overlapSeconds: 0 },
    });
    expect(await replay(`${event.id}/replay`)).toMatchObject({ status: 202, body: { events: 1, deliveries: 1 } });
    await deliver();
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([event.id, event.id]);
    expect(verified(body.secret)).toMatchObject({ id: event.id });
    expect((await deliveries(id)).data).toMatchObject([{ status: 'delivered', attempts: [{}, {}] }]);
  });

  it('sends a range to a new endpoint, and what is under way not twice', async () => {
    for (let count = 0; count < 6; count += 1) await append(count % 2 === 0 ? {} : { type: 'payment.failed' });
    const { id } = await subscribe({ types: ['payment.failed'] });
    const all = { after: 1, through: 5, endpointId: id };
    expect((await replay('replay', all)).body).toEqual({ events: 4, deliveries: 4, nextAfter: 5, hasMore: false });
    expect((await replay('replay', { after: 0 })).body).toMatchObject({ events: 6, deliveries: 1 });
    await deliver();
    const told = receiver.received.map(({ body }) => (JSON.parse(body.toString()) as { sequence: number }).sequence);
    expect(told.toSorted((one, other) => one - other)).toEqual([2, 3, 4, 5, 6]);
    expect((await replay('replay', { from: '2000-01-01T00:00:00Z', to: '2001-01-01T00:00:00Z' })).body.events).toBe(0);
  });

  it.each([
    [{}, 400],
    [{ after: -1 }, 400],
    [{ after: 0, endpointId: randomUUID() }, 404],
  ])('is refused for %j', async (body, status) => {
    expect((await replay('replay', body)).status).toBe(status);
  });

  it('knows no foreign event and no disabled endpoint', async () => {
    const event = await append();
    const other = await bff.merchant('Other Shop');
    const foreign = await bff.ask(`POST /v1/events/${event.id}/replay`, { as: other.apiKey, body: {} });
    expect(foreign.status).toBe(404);
    const { id } = await subscribe();
    const disabled = { as: merchant.apiKey, body: { status: 'disabled' } };
    await bff.ask(`PATCH /v1/webhook-endpoints/${id}`, disabled);
    expect((await replay(`${event.id}/replay`, { endpointId: id })).status).toBe(409);
  });
});
