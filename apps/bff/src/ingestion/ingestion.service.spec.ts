import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { signWebhook } from '#libs/client';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { PaymentView } from '../payments/payment.dto.js';
import { DeadLetters } from './dead-letters.js';
import { EventHandlers } from './handlers.js';
import { IngestionProcessor } from './ingestion.processor.js';
import { IngestionWorkerModule } from './ingestion-worker.module.js';

let bff: TestBff;
let merchant: TestMerchant;
let secret: string;

beforeAll(async () => {
  bff = await TestBff.start({ modules: [IngestionWorkerModule] });
  merchant = await bff.merchant();
  secret = bff.aggregator.webhooks[0]?.webhookSecret ?? '';
});
afterAll(() => bff.close());
beforeEach(async () => {
  await bff.db.pool.query('delete from inbound_events');
  bff.aggregator.heal();
});

interface Sending {
  deliveryId?: string;
  secret?: string;
  signature?: string;
}

function notice(
  event: object,
  type = 'single_payment.status.completed',
  applicationId = merchant.subApplicationId,
): string {
  // Blanks as no printer of ours would put them: what is signed is bytes, not JSON.
  return JSON.stringify({ id: randomUUID(), applicationId, type, event }, undefined, 3);
}

const send = (
  body: string,
  { deliveryId = randomUUID(), secret: key = secret, signature = signWebhook(body, key) }: Sending = {},
) =>
  bff.ask('POST /v1/webhooks/aggregator', {
    body,
    headers: {
      'content-type': 'application/json;charset=UTF-8',
      'webhook-id': deliveryId,
      ...(signature === '' ? {} : { 'webhook-signature': signature }),
    },
  });
const inbound = async (): Promise<Record<string, unknown>[]> =>
  (await bff.db.pool.query('select * from inbound_events')).rows;

/** Hands every open event to the processor, as the worker does. */
async function work(afterMs = 0): Promise<void> {
  for (const { id } of await inbound()) await later(afterMs, () => bff.get(IngestionProcessor).handle(String(id)));
}

async function pendingPayment(): Promise<{ id: string; aggregatorId: string }> {
  const { token } = await bff.session(merchant, 'ada');
  const body = {
    institutionId: 'bank',
    amount: 5,
    currency: 'GBP',
    payee: { name: 'Shop', accountIdentifications: [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }] },
  };
  const made = await bff.ask<PaymentView>('POST /v1/payments', {
    as: token,
    body,
    headers: { 'idempotency-key': randomUUID() },
  });
  const back = bff.aggregator.approve(new URL(made.body.authorisationUrl ?? '').searchParams.get('consent') ?? '');
  await bff.ask(`GET /${back.pathname.slice(1)}${back.search}`);
  const aggregatorId = [...bff.aggregator.payments.keys()].at(-1) ?? '';
  return { id: made.body.id, aggregatorId };
}

async function statusOf(id: string): Promise<unknown> {
  return (await bff.db.pool.query('select status from payments where id = $1', [id])).rows[0].status;
}

describe('a webhook', () => {
  it('is verified on its bytes, stored sealed, and acknowledged', async () => {
    const body = notice({ id: 'pv3-1', amount: 1 });
    expect((await send(body)).status).toBe(204);
    const [row] = await inbound();
    expect(row).toMatchObject({ merchant_id: merchant.id, type: 'single_payment.status.completed', attempts: 0 });
    expect(JSON.stringify(row)).not.toContain('pv3-1');
  });

  it('is refused with 401 and not stored when the signature is wrong, missing, or over other bytes', async () => {
    const body = notice({ id: 'pv3-1' });
    const wrong: Sending[] = [
      { signature: '' },
      { signature: 'f'.repeat(64) },
      { signature: 'nonsense' },
      { secret: 'another' },
      { signature: signWebhook(JSON.stringify(JSON.parse(body)), secret) },
      { signature: signWebhook(body, secret).toUpperCase() },
    ];
    for (const sending of wrong) expect((await send(body, sending)).status).toBe(401);
    expect((await send(notice({}, 'x', randomUUID()))).status).toBe(401);
    expect(await inbound()).toEqual([]);
  });

  it('is not believed for another application than the one whose secret signed it', async () => {
    const other = await bff.merchant('Other Shop');
    const body = notice({ applicationId: merchant.subApplicationId }, 'x', other.subApplicationId);
    expect((await send(body)).status).toBe(401);
    expect(await inbound()).toEqual([]);
  });

  it('is stored once when it is delivered twice, at once or later', async () => {
    const body = notice({ id: 'pv3-1' });
    const deliveryId = randomUUID();
    const answers = await Promise.all([1, 2, 3].map(() => send(body, { deliveryId })));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect((await send(body, { deliveryId })).status).toBe(204);
    expect(await inbound()).toHaveLength(1);
  });

  it('may be signed with any live secret while they are rotated, and with no retired one', async () => {
    const application = await bff.merchant('Rotating Shop');
    const old = bff.aggregator.webhooks.at(-1)?.webhookSecret ?? '';
    const body = notice({}, 'x', application.subApplicationId);
    expect((await send(body, { secret: old })).status).toBe(204);
    await bff.db.pool.query(
      `update webhook_secrets set retired_at = now() - interval '1 second' where merchant_id = $1`,
      [application.id],
    );
    expect((await later(60_000, () => send(body, { secret: old }))).status).toBe(401);
  });

  it('is refused with 400 when it is signed and no JSON', async () => {
    const body = `{"applicationId": "${merchant.subApplicationId}", `;
    expect((await send(body)).status).toBe(400);
    expect(await inbound()).toEqual([]);
  });
});

describe('an event of a payment', () => {
  it('is a hint: the payment is read again, and then it is done', async () => {
    const { id, aggregatorId } = await pendingPayment();
    await send(notice({ id: aggregatorId, status: 'COMPLETED' }));
    await work();
    expect(await statusOf(id)).toBe('PENDING');
    const payment = bff.aggregator.payments.get(aggregatorId);
    if (payment) payment.status = 'COMPLETED';
    await send(notice({ id: aggregatorId, status: 'FAILED' }));
    await work();
    expect(await statusOf(id)).toBe('COMPLETED');
    expect((await inbound()).map((row) => row['status'])).toEqual(['done', 'done']);
    await work();
    const { body } = await bff.ask<{ data: { type: string; data: object }[] }>('GET /v1/events?limit=500', {
      as: merchant.apiKey,
    });
    const handled = body.data.filter((each) => each.type === 'webhook.handled');
    expect(handled.map((each) => each.data)).toEqual(
      [1, 2].map(() => ({ type: 'single_payment.status.completed', paymentId: id })),
    );
  });

  it('that comes before its payment is parked and handled later', async () => {
    await send(notice({ id: 'pv3-early', paymentIdempotencyId: 'early' }));
    await work();
    expect(await inbound()).toMatchObject([
      { status: 'parked', attempts: 1, problem: 'unknown-object', next_attempt_at: expect.any(Date) },
    ]);
    const { id } = await pendingPayment();
    await bff.db.pool.query("update payments set payment_idempotency_id = 'early' where id = $1", [id]);
    await work(60_000);
    expect(await inbound()).toMatchObject([{ status: 'done', problem: null, next_attempt_at: null }]);
  });

  it('stays done when a handler that was slower than its lease fails after another has handled it', async () => {
    const { aggregatorId } = await pendingPayment();
    await send(notice({ id: aggregatorId }));
    vi.spyOn(bff.get(EventHandlers), 'handle').mockImplementationOnce(async () => {
      await work();
      throw new Error('too late');
    });
    await work();
    expect(await inbound()).toMatchObject([{ status: 'done', attempts: 1, problem: null }]);
  });

  it('of another merchant’s payment changes nothing', async () => {
    const { id, aggregatorId } = await pendingPayment();
    const other = await bff.merchant('Foreign Shop');
    const payment = bff.aggregator.payments.get(aggregatorId);
    if (payment) payment.status = 'COMPLETED';
    await send(notice({ id: aggregatorId }, undefined, other.subApplicationId), {
      secret: bff.aggregator.webhooks.at(-1)?.webhookSecret ?? '',
    });
    await work();
    expect(await statusOf(id)).toBe('PENDING');
  });

  it('is a dead letter in the end, and can be replayed from there', async () => {
    await send(notice({ id: 'pv3-never' }));
    for (let attempt = 0; attempt < 9; attempt += 1) await work(attempt * 90_000_000);
    const letters = new DeadLetters(bff.db.pool);
    const [letter] = await letters.list();
    expect(letter).toMatchObject({ merchantId: merchant.id, attempts: 9, problem: 'unknown-object' });
    expect(await letters.replay(letter?.id ?? '')).toBe(true);
    expect(await letters.list()).toEqual([]);
    expect(await letters.replay('unknown')).toBe(false);
    expect(await inbound()).toMatchObject([{ status: 'received', attempts: 0 }]);
  });

  it('of a type that nobody handles is kept and done', async () => {
    await send(notice({}, 'something.new.v1'));
    await work();
    expect(await inbound()).toMatchObject([{ status: 'done' }]);
    await expect(
      bff.get(EventHandlers).handle({ merchantId: merchant.id, type: 'toString', event: {} }),
    ).resolves.toEqual({});
  });
});

describe('GET /v1/events', () => {
  it('gives the merchant’s own log without gaps from any place', async () => {
    await pendingPayment();
    type Page = { data: { sequence: number }[]; nextAfter: number; hasMore: boolean };
    const all: number[] = [];
    let after = 0;
    for (let pages = 0; pages < 100; pages += 1) {
      const { body } = await bff.ask<Page>(`GET /v1/events?limit=3&after=${after}`, { as: merchant.apiKey });
      all.push(...body.data.map(({ sequence }) => sequence));
      after = body.nextAfter;
      if (!body.hasMore) break;
    }
    expect(all.length).toBeGreaterThan(3);
    expect(all).toEqual(all.map((_, index) => index + 1));
    const other = await bff.merchant('Quiet Shop');
    expect((await bff.ask<Page>('GET /v1/events', { as: other.apiKey })).body).toEqual({
      data: [],
      nextAfter: 0,
      hasMore: false,
    });
  });
});
