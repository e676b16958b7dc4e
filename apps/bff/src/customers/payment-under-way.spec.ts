import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signWebhook } from '#libs/client';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { EventHandlers } from '../ingestion/handlers.js';
import { IngestionProcessor } from '../ingestion/ingestion.processor.js';
import { IngestionWorkerModule } from '../ingestion/ingestion-worker.module.js';
import { PaymentSubmissionService } from '../payments/payment-submission.service.js';
import { SyncModule } from '../sync/sync.module.js';
import { ErasureService } from './erasure.service.js';

describe('a customer who is deleted while they pay', () => {
  let bff: TestBff;
  let merchant: TestMerchant;

  beforeAll(async () => {
    bff = await TestBff.start({ modules: [SyncModule, IngestionWorkerModule] });
    merchant = await bff.merchant();
  });
  afterAll(() => bff.close());

  /** A customer at the bank, about to approve a payment. */
  const atTheBank = async (name: string) => {
    const { token, customerId } = await bff.session(merchant, name);
    const payee = {
      name: 'Shop',
      accountIdentifications: [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }],
    };
    const body = { institutionId: 'bank', amount: 5, currency: 'GBP', payee, reference: 'Order 1' };
    const headers = { 'idempotency-key': `pay-${name}` };
    const { body: paid } = await bff.ask<{ id: string }>('POST /v1/payments', { as: token, body, headers });
    const { consent_id: consentId } = await stored(paid.id);
    return { customerId, id: paid.id, consentId: String(consentId) };
  };
  const stored = async (id: string): Promise<Record<string, unknown>> =>
    (await bff.db.pool.query<Record<string, unknown>>('select * from payments where id = $1', [id])).rows[0] ?? {};
  const approve = async (consentId: string): Promise<void> => {
    const back = bff.aggregator.approve(consentId);
    await bff.ask(`GET ${back.pathname}${back.search}` as `GET /${string}`);
  };
  const remove = async (customerId: string): Promise<void> => {
    await bff.ask(`DELETE /v1/customers/${customerId}`, { as: merchant.apiKey });
    await bff.get(ErasureService).run(customerId);
  };
  const exists = async (customerId: string): Promise<boolean> =>
    (await bff.db.pool.query('select 1 from customers where id = $1', [customerId])).rowCount === 1;
  const inbound = async (): Promise<unknown[]> => (await bff.db.pool.query('select status from inbound_events')).rows;
  const notify = async (event: object): Promise<void> => {
    const applicationId = merchant.subApplicationId;
    const body = JSON.stringify({ id: 'notice', applicationId, type: 'single_payment.status.completed', event });
    const secret = bff.aggregator.webhooks.find((each) => each.applicationId === applicationId)?.webhookSecret ?? '';
    const headers = { 'content-type': 'application/json', 'webhook-signature': signWebhook(body, secret) };
    expect((await bff.ask('POST /v1/webhooks/aggregator', { body, headers })).status).toBe(204);
  };
  const recordOf = async (id: string): Promise<unknown> =>
    (await bff.db.pool.query('select status, amount from payment_records where id = $1', [id])).rows[0];

  it('keeps the consent of a payment that is just being sent, until the bank has said how it ended', async () => {
    const { customerId, id, consentId } = await atTheBank('ada');
    bff.aggregator.onPay = async () => {
      bff.aggregator.onPay = () => {};
      await remove(customerId);
    };
    await approve(consentId);
    expect(await stored(id)).toMatchObject({ status: 'PENDING' });
    expect(bff.aggregator.consents.get(consentId)).toMatchObject({ deleted: false });
    for (const payment of bff.aggregator.payments.values()) payment.status = 'COMPLETED';
    await bff
      .get(PaymentSubmissionService)
      .load(id)
      .then((payment) => payment && bff.get(PaymentSubmissionService).follow(payment));
    await later(60_000, () => bff.get(ErasureService).run(customerId));
    expect(await exists(customerId)).toBe(false);
    expect(await recordOf(id)).toEqual({ status: 'COMPLETED', amount: '5.000000' });
  });

  it('asks again with the same id where the answer to a payment was lost, and waits a day for it', async () => {
    const { customerId, id, consentId } = await atTheBank('bob');
    bff.aggregator.fail({ route: 'POST /payments', afterWork: true });
    await approve(consentId);
    expect(await stored(id)).toMatchObject({ status: 'AUTHORIZED', submitted_at: null });
    await remove(customerId);
    expect(bff.aggregator.consents.get(consentId)).toMatchObject({ deleted: false });
    await bff.get(PaymentSubmissionService).submit(id);
    expect(await stored(id)).toMatchObject({ status: 'PENDING' });
    await later(25 * 3_600_000, () => bff.get(ErasureService).run(customerId));
    expect(await recordOf(id)).toMatchObject({ status: 'PENDING' });
  });

  it('keeps the money of a payment of which nobody ever learnt what became of it', async () => {
    const { customerId, id, consentId } = await atTheBank('eve');
    bff.aggregator.fail({ route: 'POST /payments', afterWork: true });
    await approve(consentId);
    await remove(customerId);
    await later(25 * 3_600_000, () => bff.get(ErasureService).run(customerId));
    expect(await exists(customerId)).toBe(false);
    expect(await recordOf(id)).toEqual({ status: 'UNKNOWN', amount: '5.000000' });
  });

  it('is not kept in what the aggregator tells later of their payment either', async () => {
    const { customerId, id, consentId } = await atTheBank('fay');
    await approve(consentId);
    await remove(customerId);
    await later(25 * 3_600_000, () => bff.get(ErasureService).run(customerId));
    expect(await recordOf(id)).toBeDefined();
    const event = { id: 'pv3-late', paymentIdempotencyId: id.replaceAll('-', ''), status: 'COMPLETED' };
    await notify(event);
    expect(await inbound()).toEqual([{ status: 'received' }]);
    await bff.get(IngestionProcessor).handleDue();
    expect(await inbound()).toEqual([]);
    // Another merchant's payment is as unknown as any.
    const other = await bff.merchant('Other Shop');
    const type = 'single_payment.status.completed';
    await expect(bff.get(EventHandlers).handle({ merchantId: other.id, type, event })).rejects.toThrow('no submitted');
  });

  it('never sends what was not sent', async () => {
    const { customerId, id, consentId } = await atTheBank('cy');
    const sent = bff.aggregator.callsOf('POST /payments').length;
    bff.aggregator.fail({ route: 'DELETE /users/:id' });
    await bff.ask(`DELETE /v1/customers/${customerId}`, { as: merchant.apiKey });
    await expect(bff.get(ErasureService).run(customerId)).rejects.toMatchObject({ name: 'ClientError' });
    expect(await stored(id)).toMatchObject({ status: 'FAILED', reason: 'customer-deleted' });
    await bff.get(PaymentSubmissionService).submit(id);
    await later(3_600_000, () => bff.get(ErasureService).run(customerId));
    expect(bff.aggregator.consents.get(consentId)).toMatchObject({ deleted: true });
    expect(bff.aggregator.callsOf('POST /payments')).toHaveLength(sent);
    expect([await exists(customerId), await recordOf(id)]).toEqual([false, undefined]);
  });

  it('never sends what was approved and taken back before it was sent', async () => {
    const { customerId, id, consentId } = await atTheBank('dee');
    await approve(consentId);
    const unsent = `update payments set status = 'AUTHORIZED', sending_at = null, submitted_at = null where id = $1`;
    await bff.db.pool.query(unsent, [id]);
    const sent = bff.aggregator.callsOf('POST /payments').length;
    await remove(customerId);
    await bff.get(PaymentSubmissionService).submit(id);
    expect(bff.aggregator.callsOf('POST /payments')).toHaveLength(sent);
    expect(await exists(customerId)).toBe(false);
  });
});
