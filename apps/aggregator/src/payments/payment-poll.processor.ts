import { Job, Processor, WorkerHost } from '#libs/database';
import { newTracingId, runWithTracing } from '#libs/server';
import { PaymentFollow } from './payment-follow.service.js';
import { paymentsQueue, type PaymentPollJob } from './payment-record.service.js';

/** Looks at one payment, or runs the sweep that finds due ones. */
@Processor(paymentsQueue, { concurrency: 10 })
export class PaymentPollProcessor extends WorkerHost {
  constructor(private readonly follow: PaymentFollow) {
    super();
  }

  override async process(job: Job<PaymentPollJob>, _token?: string, signal?: AbortSignal): Promise<void> {
    await runWithTracing(newTracingId(), async () => {
      await (job.name === 'poll' ? this.follow.poll(job.data.paymentId, signal) : this.follow.sweep());
    });
  }
}
