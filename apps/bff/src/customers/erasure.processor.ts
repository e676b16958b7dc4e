import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { InjectQueue, type Job, POOL, Processor, type Queue, WorkerHost } from '#libs/database';
import { createLogger } from '#libs/server';
import { enqueueDue, runJob } from '../due-jobs.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
import { ErasureService } from './erasure.service.js';

const due = {
  table: 'customers',
  dueColumn: 'next_erasure_at',
  leaseColumn: 'erasure_lease_until',
  leaseMs: 600_000,
};

/** Removes what is to go: customers who are being deleted, and idempotency keys that have been kept long enough. */
@Processor('upkeep', { concurrency: 2 })
export class ErasureProcessor extends WorkerHost {
  private readonly log = createLogger('customers');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @InjectQueue('upkeep') private readonly queue: Queue,
    private readonly erasure: ErasureService,
    private readonly keys: IdempotencyService,
  ) {
    super();
  }

  process(job: Job<{ id: string }>): Promise<void> {
    return runJob(this.log, job, () => {
      return job.name === 'tick' ? this.tick() : this.erasure.run(job.data.id);
    });
  }

  private async tick(): Promise<void> {
    await enqueueDue(this.pool, this.queue, due);
    await this.keys.sweep();
  }
}
