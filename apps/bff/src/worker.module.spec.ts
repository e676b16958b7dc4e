import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signWebhook } from '#libs/client';
import { TestBff, type TestMerchant } from '../../../test/support/bff.js';
import type { ConnectionView } from './connections/connection.dto.js';
import type { PaymentView } from './payments/payment.dto.js';
import { WorkerModule } from './worker.module.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;

beforeAll(async () => {
  bff = await TestBff.start({ modules: [WorkerModule], workers: true });
  merchant = await bff.merchant();
  ({ token } = await bff.session(merchant, 'ada'));
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  bff.aggregator.transactions = new Map([
    ['acc', [{ id: 't', amount: 1, currency: 'GBP', date: '2026-01-01T00:00:00.000Z' }]],
  ]);
});
afterAll(() => bff.close());

/** Asks until the condition holds; fails with the last answer when its time is up. */
async function until<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (performance.now() > deadline) throw new Error(`It did not happen: ${JSON.stringify(answer)}`);
    await pause(50);
  }
}

const connection = async (id: string): Promise<ConnectionView> =>
  (await bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as: token })).body;

describe('the worker', () => {
  it('synchronises a connection as soon as its customer has come back', async () => {
    const { id } = await bff.connected(token);
    const view = await until(
      () => connection(id),
      ({ sync }) => sync?.status === 'completed',
    );
    expect(view.sync).toMatchObject({ accounts: 1, added: 1 });
  });

  it('finds what is due in the tables when no job was left in the queue', async () => {
    const { id } = await bff.connected(token);
    await until(
      () => connection(id),
      ({ lastSyncedAt }) => lastSyncedAt !== undefined,
    );
    const calls = bff.aggregator.callsOf('GET /accounts').length;
    await bff.db.pool.query(`update connections set next_sync_at = now() - interval '1 hour' where id = $1`, [id]);
    await until(
      () => Promise.resolve(bff.aggregator.callsOf('GET /accounts').length),
      (count) => count > calls,
    );
    expect((await connection(id)).status).toBe('active');
  });

  it('follows a payment by webhook and poll until it is completed', async () => {
    const payee = {
      name: 'Shop',
      accountIdentifications: [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }],
    };
    const body = { institutionId: 'bank', amount: 5, currency: 'GBP', payee };
    const made = await bff.ask<PaymentView>('POST /v1/payments', {
      as: token,
      body,
      headers: { 'idempotency-key': randomUUID() },
    });
    const back = bff.aggregator.approve(new URL(made.body.authorisationUrl ?? '').searchParams.get('consent') ?? '');
    await bff.ask(`GET /${back.pathname.slice(1)}${back.search}`);
    const [payment] = [...bff.aggregator.payments.values()].slice(-1);
    if (payment) payment.status = 'COMPLETED';
    const notice = JSON.stringify({
      id: randomUUID(),
      applicationId: merchant.subApplicationId,
      type: 'payment.state.success',
      event: { id: payment?.id },
    });
    const sent = await bff.ask('POST /v1/webhooks/aggregator', {
      body: notice,
      headers: {
        'content-type': 'application/json',
        'webhook-id': randomUUID(),
        'webhook-signature': signWebhook(notice, bff.aggregator.webhooks[0]?.webhookSecret ?? ''),
      },
    });
    expect(sent.status).toBe(204);
    const read = async () => (await bff.ask<PaymentView>(`GET /v1/payments/${made.body.id}`, { as: token })).body;
    expect(await until(read, ({ status }) => status === 'COMPLETED')).toMatchObject({
      completedAt: expect.any(String),
    });
    const handled = () => bff.db.pool.query("select 1 from inbound_events where status = 'done'");
    await until(handled, ({ rowCount }) => rowCount === 1);
  });

  it('tells how it is, and answers nothing else, when it runs alone', async () => {
    const alone = await TestBff.start({ env: { ROLE: 'worker' }, modules: [WorkerModule], workers: true });
    try {
      expect((await alone.ask('GET /health')).status).toBe(200);
      expect((await alone.ask('GET /ready')).status).toBe(200);
      expect((await alone.ask('GET /v1/merchants', { as: alone.env.OPERATOR_KEY })).status).toBe(404);
      expect((await alone.ask('GET /docs')).status).toBe(404);
    } finally {
      await alone.close();
    }
  });
});
