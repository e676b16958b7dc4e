import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { InjectQueue, type Job, POOL, Processor, type Queue, WorkerHost } from '#libs/database';
import { createLogger } from '#libs/server';
import { addJobs, keptItsJobs, releaseLeases, runJob } from '../due-jobs.js';
import { RetentionService } from '../events/retention.service.js';
import { DeliveriesService } from './deliveries.service.js';
import { takeDueDeliveries, takeNextDelivery } from './delivery-lanes.js';

const due = { table: 'webhook_deliveries', dueColumn: 'next_attempt_at', leaseColumn: 'lease_until' };

/** A lane goes on with the next delivery for so long, so that even its last request ends before the job's deadline. */
const laneMs = 15_000;

/** Makes one attempt at a delivery, looks for those that are due, or forgets what is past its retention. */
@Processor('webhooks', { concurrency: 40 })
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
      if (job.name === 'tick') return this.tick();
      return job.name === 'sweep' ? this.retention.sweep() : this.deliver(job.data.id);
    });
  }

  /** What was handed out before the queue was wiped is handed out again. */
  private async tick(): Promise<void> {
    if (!(await keptItsJobs(this.queue))) await releaseLeases(this.pool, due);
    await addJobs(this.queue, await takeDueDeliveries(this.pool));
  }

  /** A delivery, and while the endpoint takes them those that wait behind it. */
  private async deliver(first: string): Promise<void> {
    const until = performance.now() + laneMs;
    for (let id: string | undefined = first; id !== undefined;) {
      await this.deliveries.deliver(id);
      id = performance.now() < until ? await takeNextDelivery(this.pool, id) : undefined;
    }
  }
}
