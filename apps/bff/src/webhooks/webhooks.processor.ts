import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { InjectQueue, type Job, POOL, Processor, type Queue, WorkerHost } from '#libs/database';
import { createLogger } from '#libs/server';
import { enqueueDue, runJob } from '../due-jobs.js';
import { RetentionService } from '../events/retention.service.js';
import { DeliveriesService } from './deliveries.service.js';

/** A request takes at most the timeout of `WEBHOOK_TIMEOUT_MS`, of which 30 s is the longest. */
const due = { table: 'webhook_deliveries', dueColumn: 'next_attempt_at', leaseColumn: 'lease_until', leaseMs: 60_000 };

/** Makes one attempt at a delivery, looks for those that are due, or forgets what is past its retention. */
@Processor('webhooks', { concurrency: 20 })
export class WebhooksProcessor extends WorkerHost {
  private readonly log = createLogger('webhooks');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @InjectQueue('webhooks') private readonly queue: Queue,
    private readonly deliveries: DeliveriesService,
    private readonly retention: RetentionService,
  ) {
    super();
  }

  process(job: Job<{ id: string }>): Promise<void> {
    return runJob(this.log, job, () => {
      if (job.name === 'tick') return enqueueDue(this.pool, this.queue, due);
      return job.name === 'sweep' ? this.retention.sweep() : this.deliveries.deliver(job.data.id);
    });
  }
}
