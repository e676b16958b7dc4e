import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { ClientError } from '#libs/client';
import type { PaymentRequest, PaymentResponse, PsuHeaders } from '#libs/contract';
import { POOL, SecretBox, transaction } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import {
  isFinalRefusal,
  isSettled,
  isSubmittable,
  isSubmitted,
  MerchantPaymentStatus,
  pollDelaySeconds,
  pollsMax,
  statusOfPayment,
} from './payment-status.js';
import { movePayment, type PaymentRow } from './payments.queries.js';

/** Ours towards the aggregator is the payment's own id without its dashes. */
const idempotencyForm = /^[0-9a-f]{32}$/;

/** Sends authorised payments and follows them to their end. */
@Injectable()
export class PaymentSubmissionService {
  private readonly log = createLogger('payments');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Submits an authorised payment, always under the idempotency id it was authorised with: sent twice, it is paid once.
   * Without an answer it stays authorised and is sent again later; only a plain refusal ends it. `psu` is the customer, if they are present.
   */
  async submit(id: string, psu?: PsuHeaders): Promise<void> {
    const payment = await this.load(id);
    if (!payment || !isSubmittable(payment.status) || payment.sealed_consent_token === null) return;
    if (!(await this.beginSending(id))) return;
    const request = JSON.parse(this.secrets.open(payment.sealed_request, `payment:${id}:request`)) as PaymentRequest;
    try {
      const application = await this.aggregator.of(payment.merchant_id);
      const { data } = await application.createPayment(this.token(payment), request, psu);
      await this.record(payment, data);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.log.warn({ paymentId: id, status: error.status, retryable: error.retryable }, 'a payment was not accepted');
      if (isFinalRefusal(error)) await this.fail(id);
      else await this.postpone(payment);
    }
  }

  /** Reads a submitted payment again and takes over its status. A hint from a webhook makes even a settled one be read. */
  async follow(payment: PaymentRow, { hinted = false } = {}): Promise<void> {
    const { aggregator_payment_id: paymentId } = payment;
    if (!isSubmitted(payment.status) || paymentId === null || payment.sealed_consent_token === null) return;
    if (isSettled(payment.status) && !hinted) return;
    const application = await this.aggregator.of(payment.merchant_id);
    try {
      const { data } = await application.getPayments(this.token(payment), paymentId);
      const found = data.payments.find((each) => each.id === paymentId) ?? data.payments[0];
      if (found) await this.record(payment, found);
      else await this.postpone(payment);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      await this.postpone(payment);
      if (hinted) throw error;
    }
  }

  async load(id: string): Promise<PaymentRow | undefined> {
    const { rows } = await this.pool.query<PaymentRow>('select * from payments where id = $1', [id]);
    return rows[0];
  }

  /** The payment that a webhook of this merchant speaks of, by any of the ids it may carry. */
  async find(
    merchantId: string,
    named: { paymentId?: string; idempotencyId?: string; consentId?: string },
  ): Promise<PaymentRow | undefined> {
    const { rows } = await this.pool.query<PaymentRow>(
      `select * from payments where merchant_id = $1
       and (aggregator_payment_id = $2 or payment_idempotency_id = $3 or consent_id::text = $4) limit 1`,
      [merchantId, named.paymentId ?? null, named.idempotencyId ?? null, named.consentId ?? null],
    );
    return rows[0];
  }

  /** Whether this was the payment of a customer who is deleted: the money is kept, and nothing that leads to them. */
  async isErased(merchantId: string, idempotencyId: string | undefined): Promise<boolean> {
    if (idempotencyId === undefined || !idempotencyForm.test(idempotencyId)) return false;
    const text = 'select 1 from payment_records where id = $1::uuid and merchant_id = $2';
    return (await this.pool.query(text, [idempotencyId, merchantId])).rowCount === 1;
  }

  private async record(payment: PaymentRow, answer: PaymentResponse): Promise<void> {
    const to = statusOfPayment(answer.status);
    const at = now();
    const settled = isSettled(to);
    const polls = payment.polls + 1;
    const next = settled || polls > pollsMax ? null : new Date(at.getTime() + pollDelaySeconds(polls) * 1000);
    const columns = {
      aggregator_payment_id: answer.id,
      iso_status: answer.statusDetails?.isoStatus?.code ?? null,
      next_poll_at: next,
      polls,
      ...(payment.submitted_at === null ? { submitted_at: at } : {}),
      ...(to === MerchantPaymentStatus.COMPLETED ? { completed_at: at } : {}),
    };
    const moved = await transaction(this.pool, (tx) => movePayment(tx, { id: payment.id, to, columns }));
    if (moved) return;
    // The same status again, or one that another reader was faster to record: only the next look changes.
    await this.pool.query(
      'update payments set iso_status = $2, next_poll_at = $3, polls = $4 where id = $1 and status = $5',
      [payment.id, columns.iso_status, next, polls, to],
    );
  }

  /** The intent, before the call: whoever would take the payment back is too late from now on. False where they were first. */
  private async beginSending(id: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      'update payments set sending_at = coalesce(sending_at, $2) where id = $1 and status = $3',
      [id, now(), MerchantPaymentStatus.AUTHORIZED],
    );
    return rowCount === 1;
  }

  private async fail(id: string): Promise<void> {
    const move = { id, to: MerchantPaymentStatus.FAILED, reason: 'refused', columns: { next_poll_at: null } };
    await transaction(this.pool, (tx) => movePayment(tx, move));
  }

  private async postpone({ id, polls }: PaymentRow): Promise<void> {
    const next = polls >= pollsMax ? null : new Date(now().getTime() + pollDelaySeconds(polls) * 1000);
    await this.pool.query('update payments set next_poll_at = $2, polls = polls + 1 where id = $1', [id, next]);
  }

  private token({ id, sealed_consent_token: sealed }: PaymentRow): string {
    if (sealed === null) throw new Error(`Payment ${id} has no consent token`);
    return this.secrets.open(sealed, `payment:${id}:consent-token`);
  }
}
