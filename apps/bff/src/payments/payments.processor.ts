import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { InjectQueue, type Job, POOL, Processor, type Queue, transaction, WorkerHost } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { enqueueDue, runJob } from '../due-jobs.js';
import { PaymentAuthorisationService } from './payment-authorisation.service.js';
import { PaymentSubmissionService } from './payment-submission.service.js';
import { isAwaited, isIntent, isOutOfPatience, isSubmittable, MerchantPaymentStatus } from './payment-status.js';
import { movePayment, type PaymentRow } from './payments.queries.js';

const due = { table: 'payments', dueColumn: 'next_poll_at', leaseColumn: 'poll_lease_until', leaseMs: 60_000 };

/** Looks at one payment that is due: asks for its consent, submits it, or reads its status, by where it stands. */
@Processor('payments', { concurrency: 8 })
export class PaymentsProcessor extends WorkerHost {
  private readonly log = createLogger('payments');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @InjectQueue('payments') private readonly queue: Queue,
    private readonly authorisation: PaymentAuthorisationService,
    private readonly submission: PaymentSubmissionService,
  ) {
    super();
  }

  process(job: Job<{ id: string }>): Promise<void> {
    return runJob(this.log, job, () => {
      return job.name === 'tick' ? enqueueDue(this.pool, this.queue, due) : this.take(job.data.id);
    });
  }

  private async take(id: string): Promise<void> {
    try {
      const payment = await this.submission.load(id);
      if (payment) await this.look(payment);
    } finally {
      await this.pool.query('update payments set poll_lease_until = null where id = $1', [id]);
    }
  }

  private async look(payment: PaymentRow): Promise<void> {
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
