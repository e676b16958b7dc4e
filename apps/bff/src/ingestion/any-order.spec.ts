import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AggregatorClient, signWebhook } from '#libs/client';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { until } from '../../../../test/support/receiver.js';
import { RegistrationService } from '../merchants/registration.service.js';
import type { PaymentView } from '../payments/payment.dto.js';
import { IngestionProcessor } from './ingestion.processor.js';
import { IngestionWorkerModule } from './ingestion-worker.module.js';
import { DeadLetters } from './dead-letters.js';
import { SecretRotation } from './secret-rotation.js';

let bff: TestBff;
let merchant: TestMerchant;

beforeAll(async () => {
  bff = await TestBff.start({ modules: [IngestionWorkerModule] });
  await bff.app.listen(0, '127.0.0.1');
});
afterAll(() => bff.close());

const secretOf = (one: TestMerchant) =>
  bff.aggregator.webhooks.find(({ applicationId }) => applicationId === one.subApplicationId)?.webhookSecret ?? '';

interface Notice {
  deliveryId: string;
  body: string;
}

function noticeOf(type: string, event: object): Notice {
  const body = JSON.stringify({ id: randomUUID(), applicationId: merchant.subApplicationId, type, event });
  return { deliveryId: randomUUID(), body };
}

function send({ deliveryId, body }: Notice, secret = secretOf(merchant)) {
  const headers = {
    'content-type': 'application/json',
    'webhook-id': deliveryId,
    'webhook-signature': signWebhook(body, secret),
  };
  return bff.ask('POST /v1/webhooks/aggregator', { body, headers });
}

/** A payment that its customer has approved, and the id that events give it. */
async function pay(): Promise<{ id: string; aggregatorId: string }> {
  const { token } = await bff.session(merchant, 'ada');
  const accountIdentifications = [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }];
  const body = { institutionId: 'bank', amount: 5, currency: 'GBP', payee: { name: 'Shop', accountIdentifications } };
  const headers = { 'idempotency-key': randomUUID() };
  const made = await bff.ask<PaymentView>('POST /v1/payments', { as: token, body, headers });
  const back = bff.aggregator.approve(new URL(made.body.authorisationUrl ?? '').searchParams.get('consent') ?? '');
  await bff.ask(`GET ${back.pathname}${back.search}` as `GET /${string}`);
  return { id: made.body.id, aggregatorId: [...bff.aggregator.payments.keys()].at(-1) ?? '' };
}

async function inbound(): Promise<{ status: string }[]> {
  return (await bff.db.pool.query('select status from inbound_events where merchant_id = $1', [merchant.id])).rows;
}

async function logged(type: string): Promise<number> {
  const text = 'select 1 from events where merchant_id = $1 and type = $2';
  return (await bff.db.pool.query(text, [merchant.id, type])).rowCount ?? 0;
}

/** Handles what is due until everything is done; waits are skipped. */
const settle = (): Promise<void> =>
  until(async () => {
    await later(60_000, () => bff.get(IngestionProcessor).handleDue());
    return (await inbound()).every(({ status }) => status === 'done');
  });

describe('events of a payment', () => {
  it('lead to the same end in any order, however often each comes', async () => {
    const types = [
      ['single_payment.status.updated', 'PENDING'],
      ['single_payment.status.updated', 'COMPLETED'],
      ['single_payment.status.completed', 'COMPLETED'],
      ['payment.state.success', 'COMPLETED'],
    ] as const;
    const orders = fc.array(fc.nat({ max: types.length - 1 }), { minLength: 4, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        merchant = await bff.merchant(`Shop ${randomUUID().slice(0, 8)}`);
        const { id, aggregatorId } = await pay();
        const notices = types.map(([type, status]) => noticeOf(type, { id: aggregatorId, status }));
        const payment = bff.aggregator.payments.get(aggregatorId);
        for (const [index, chosen] of [...order, 3].entries()) {
          // Whoever is told that it is completed finds it so.
          if (payment && chosen > 0) payment.status = 'COMPLETED';
          expect((await send(notices[chosen] ?? noticeOf('x.y', {}))).status).toBe(204);
          if (index % 2 === 0) await bff.get(IngestionProcessor).handleDue();
        }
        await settle();
        const { rows } = await bff.db.pool.query('select status from payments where id = $1', [id]);
        expect(rows).toEqual([{ status: 'COMPLETED' }]);
        expect(await logged('payment.completed')).toBe(1);
        expect(await logged('webhook.handled')).toBe(new Set([...order, 3]).size);
      }),
      { numRuns: 12 },
    );
  }, 60_000);
});

describe('a sender that hears no acknowledgement', () => {
  it('sends again, and the event is stored and handled once', async () => {
    merchant = await bff.merchant(`Shop ${randomUUID().slice(0, 8)}`);
    const notice = noticeOf('something.new.v1', { id: 'x' });
    const { port } = new URL(await bff.app.getUrl());
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `POST /v1/webhooks/aggregator HTTP/1.1\r\nhost: bff\r\ncontent-type: application/json\r\n` +
        `webhook-id: ${notice.deliveryId}\r\nwebhook-signature: ${signWebhook(notice.body, secretOf(merchant))}\r\n` +
        `content-length: ${notice.body.length}\r\n\r\n${notice.body}`,
      // The answer finds nobody.
      () => socket.destroy(),
    );
    await until(async () => (await inbound()).length === 1);
    expect((await send(notice)).status).toBe(204);
    await settle();
    expect((await send(notice)).status).toBe(204);
    expect(await inbound()).toEqual([{ status: 'done' }]);
    expect(await logged('webhook.handled')).toBe(1);
  });
});

describe('a new secret', () => {
  it('is believed at once beside the old one, and alone after the overlap', async () => {
    merchant = await bff.merchant(`Shop ${randomUUID().slice(0, 8)}`);
    const old = secretOf(merchant);
    const rotation = new SecretRotation(bff.db.pool, bff.get(AggregatorClient), bff.get(RegistrationService));
    expect((await send(noticeOf('x.y', {}))).status).toBe(204);
    expect(await rotation.rotate(merchant.id, 48)).toEqual({ removed: 0 });
    const fresh = bff.aggregator.webhooks.at(-1)?.webhookSecret ?? '';
    expect(fresh).not.toBe(old);
    const twice = noticeOf('x.y', {});
    const answers = [];
    for (const secret of [old, fresh]) answers.push((await later(2_000, () => send(twice, secret))).status);
    expect(answers).toEqual([204, 204]);
    expect(await inbound()).toHaveLength(2);
    const overlap = 49 * 3_600_000;
    expect((await later(overlap, () => send(noticeOf('x.y', {}), old))).status).toBe(401);
    expect((await later(overlap, () => send(noticeOf('x.y', {}), fresh))).status).toBe(204);
    expect(await later(overlap, () => rotation.rotate(merchant.id, 48))).toEqual({ removed: 1 });
    expect(bff.aggregator.webhooks.map(({ webhookSecret }) => webhookSecret)).not.toContain(old);
  });
});

describe('dead letters', () => {
  it('are listed and replayed by what they are and when they came', async () => {
    merchant = await bff.merchant(`Shop ${randomUUID().slice(0, 8)}`);
    for (const type of ['payment.state.success', 'payment.state.failed'])
      await send(noticeOf(type, { id: 'pv3-none' }));
    await until(async () => {
      await later(0, () => bff.get(IngestionProcessor).handleDue());
      return (await inbound()).every(({ status }) => status === 'parked');
    });
    const letters = new DeadLetters(bff.db.pool);
    const merchantId = merchant.id;
    expect(await letters.list({ merchantId }, 'parked')).toHaveLength(2);
    await bff.db.pool.query(
      `update inbound_events set status = 'dead', next_attempt_at = null where merchant_id = $1`,
      [merchantId],
    );
    const failed = { merchantId, type: 'payment.state.failed' };
    expect(await letters.list(failed)).toMatchObject([{ type: 'payment.state.failed', problem: 'unknown-object' }]);
    expect(await letters.list({ merchantId, until: new Date(0) })).toEqual([]);
    expect(await letters.replayAll({ merchantId, until: new Date(0) })).toBe(0);
    expect(await letters.replayAll(failed)).toBe(1);
    expect(await letters.list({ merchantId })).toHaveLength(1);
  });
});
