import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { InjectQueue, type Job, POOL, Processor, type Queue, WorkerHost } from '#libs/database';
import { createLogger } from '#libs/server';
import { ErasureService } from './customers/erasure.service.js';
import { enqueueTaken, keptItsJobs, releaseLeases, runJob } from './due-jobs.js';
import { IdempotencyService } from './idempotency/idempotency.service.js';
import { RelocationService } from './merchants/relocation.service.js';

/** What a tick hands out, by the name of the job. */
const dues = {
  erasure: {
    table: 'customers',
    dueColumn: 'next_erasure_at',
    leaseColumn: 'erasure_lease_until',
    leaseMs: 600_000,
  },
  relocation: {
    table: 'merchants',
    dueColumn: 'next_registration_at',
    leaseColumn: 'registration_lease_until',
    leaseMs: 300_000,
  },
};

/**
 * What is seldom to be done: customers who are being deleted, merchants who are registered under an old address of ours, and
 * idempotency keys that have been kept long enough.
 */
@Processor('upkeep', { concurrency: 2 })
export class UpkeepProcessor extends WorkerHost {
  private readonly log = createLogger('upkeep');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @InjectQueue('upkeep') private readonly queue: Queue,
    private readonly erasure: ErasureService,
    private readonly relocation: RelocationService,
    private readonly keys: IdempotencyService,
  ) {
    super();
  }

  process(job: Job<{ id: string }>): Promise<void> {
    return runJob(this.log, job, () => {
      if (job.name === 'tick') return this.tick();
      return job.name === 'relocation' ? this.relocation.run(job.data.id) : this.erasure.run(job.data.id);
    });
  }

  private async tick(): Promise<void> {
    const isWhole = await keptItsJobs(this.queue);
    for (const [name, due] of Object.entries(dues)) {
      if (!isWhole) await releaseLeases(this.pool, due);
      await enqueueTaken(this.pool, this.queue, { ...due, name });
    }
    await this.keys.sweep();
  }
}
