import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { ClientError } from '#libs/client';
import { type Consent, problems, type PsuHeaders } from '#libs/contract';
import { POOL, SecretBox, transaction } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { claimCallback } from '../callbacks/callback-claim.js';
import { type CallbackQuery, hashOfState, outcomeOf, reasonOfError } from '../callbacks/callback-state.js';
import { isAwaited, MerchantPaymentStatus, statusOfPaymentConsent, submissionClaimMs } from './payment-status.js';
import { movePayment, type PaymentMove, type PaymentRow } from './payments.queries.js';
import { PaymentSubmissionService } from './payment-submission.service.js';

/** Finishes the authorisation of payments: on the callback, or by asking for the consent when no browser came. */
@Injectable()
export class PaymentAuthorisationService {
  private readonly log = createLogger('payment-authorisation');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly secrets: SecretBox,
    private readonly submission: PaymentSubmissionService,
  ) {}

  /** The browser came back. Safe to hit twice: the second hit only reads how it went, and the payment is sent once. */
  async comeBack(
    query: CallbackQuery,
    psu?: PsuHeaders,
  ): Promise<{ id: string; status: string; returnUrl: string | null }> {
    const hash = hashOfState(query.state);
    const { rows } = await this.pool.query<PaymentRow>('select * from payments where state_hash = $1', [hash ?? '']);
    const payment = rows[0];
    if (!payment) throw problems.notFound({ parameter: 'state', message: 'The authorisation is not known' });
    if (isAwaited(payment.status) && (await claimCallback(this.pool, 'payments', payment.id)))
      await this.finish(payment, query, psu);
    const after = await this.pool.query<{ status: string }>('select status from payments where id = $1', [payment.id]);
    return { id: payment.id, status: after.rows[0]?.status ?? payment.status, returnUrl: payment.return_url };
  }

  /** Reads the consent and takes over what it says; answers whether it said anything final. */
  async adopt(payment: PaymentRow, known?: Consent, psu?: PsuHeaders): Promise<boolean> {
    const consent = known ?? (await this.read(payment));
    const to = consent && statusOfPaymentConsent(consent);
    if (!consent || to === undefined) return false;
    const { id } = payment;
    const { consentToken } = consent;
    if (to !== MerchantPaymentStatus.AUTHORIZED || consentToken === undefined) {
      return this.move({ id, to, reason: 'consent-not-given', columns: { next_poll_at: null } });
    }
    const sealed = this.secrets.seal(consentToken, `payment:${id}:consent-token`);
    // The worker submits what we cannot: it looks as soon as this attempt must have ended one way or the other.
    const columns = { sealed_consent_token: sealed, next_poll_at: new Date(now().getTime() + submissionClaimMs) };
    if (await this.move({ id, to, columns })) await this.submission.submit(id, psu);
    return true;
  }

  private async finish(payment: PaymentRow, query: CallbackQuery, psu?: PsuHeaders): Promise<void> {
    const outcome = outcomeOf(query);
    const { id } = payment;
    if (outcome.kind === 'error') {
      const isRefusal = outcome.source === 'user' || outcome.error === 'access_denied';
      const to = isRefusal ? MerchantPaymentStatus.REJECTED : MerchantPaymentStatus.FAILED;
      await this.move({ id, to, reason: reasonOfError(outcome.error), columns: { next_poll_at: null } });
      return;
    }
    try {
      const consent = outcome.kind === 'token' ? await this.exchange(payment, outcome.oneTimeToken) : undefined;
      if (consent && consent.id !== payment.consent_id) {
        await this.move({
          id,
          to: MerchantPaymentStatus.FAILED,
          reason: 'consent-mismatch',
          columns: { next_poll_at: null },
        });
        return;
      }
      if (!(await this.adopt(payment, consent, psu))) await this.release(id);
    } catch (error) {
      // The customer has done their part; the worker asks for the consent as soon as the aggregator answers again.
      await this.release(id);
      if (!(error instanceof ClientError)) throw error;
      this.log.warn({ paymentId: id, status: error.status }, 'the aggregator did not answer a callback');
    }
  }

  private async move(move: PaymentMove): Promise<boolean> {
    return transaction(this.pool, (tx) => movePayment(tx, move));
  }

  private async release(id: string): Promise<void> {
    await this.pool.query('update payments set state_used_at = null, next_poll_at = $2 where id = $1', [id, now()]);
  }

  /** Undefined when the token is spent or too old: the consent itself can still be read. */
  private async exchange(payment: PaymentRow, oneTimeToken: string): Promise<Consent | undefined> {
    const application = await this.aggregator.of(payment.merchant_id);
    try {
      return await application.getConsentBySingleAccessConsent({ oneTimeToken });
    } catch (error) {
      if (error instanceof ClientError && error.status !== undefined && !error.retryable) return undefined;
      throw error;
    }
  }

  private async read({ merchant_id: merchantId, consent_id: consentId }: PaymentRow): Promise<Consent | undefined> {
    if (consentId === null) return undefined;
    const application = await this.aggregator.of(merchantId);
    return (await application.getConsentById(consentId)).data;
  }
}
