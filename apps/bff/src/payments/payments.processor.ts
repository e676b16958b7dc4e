import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { type Job, POOL, Processor, transaction, WorkerHost } from '#libs/database';
import { now } from '#libs/server';
import { PaymentAuthorisationService } from './payment-authorisation.service.js';
import { PaymentSubmissionService } from './payment-submission.service.js';
import { isAwaited, isIntent, isOutOfPatience, isSubmittable, MerchantPaymentStatus } from './payment-status.js';
import { movePayment, type PaymentRow } from './payments.queries.js';

/** Looks at one payment that is due: asks for its consent, submits it, or reads its status, by where it stands. */
@Processor('payments')
export class PaymentsProcessor extends WorkerHost {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly authorisation: PaymentAuthorisationService,
    private readonly submission: PaymentSubmissionService,
  ) {
    super();
  }

  async process(job: Job<{ id: string }>): Promise<void> {
    const payment = await this.submission.load(job.data.id);
    if (!payment) return;
    if (isIntent(payment.status) || isAwaited(payment.status)) await this.awaitCustomer(payment);
    else if (isSubmittable(payment.status)) await this.submission.submit(payment.id);
    else await this.submission.follow(payment);
  }

  private async awaitCustomer(payment: PaymentRow): Promise<void> {
    if (isAwaited(payment.status) && (await this.authorisation.adopt(payment))) return;
    const { id } = payment;
    if (!isOutOfPatience(payment.created_at, now())) {
      const next = new Date(now().getTime() + 15 * 60_000);
      await this.pool.query('update payments set next_poll_at = $2 where id = $1', [id, next]);
      return;
    }
    const move = { id, to: MerchantPaymentStatus.EXPIRED, reason: 'never-came-back', columns: { next_poll_at: null } };
    await transaction(this.pool, (tx) => movePayment(tx, move));
  }
}
