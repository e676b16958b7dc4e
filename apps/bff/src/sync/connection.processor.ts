import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { InjectQueue, type Job, POOL, Processor, type Queue, WorkerHost } from '#libs/database';
import { createLogger } from '#libs/server';
import { AuthorisationService, type Waiting } from '../connections/authorisation.service.js';
import { isWaiting } from '../connections/connection-state.js';
import { enqueueTaken, keptItsJobs, releaseLeases, runJob } from '../due-jobs.js';
import { releaseHandedOut, takeReadyAccounts } from './account-schedule.js';
import { AccountSync } from './account-sync.service.js';
import { accountJobs, SyncSchedule } from './sync-schedule.js';
import { SyncService } from './sync.service.js';

const due = { table: 'connections', dueColumn: 'next_sync_at', leaseColumn: 'sync_lease_until', leaseMs: 60_000 };

/** Accounts that are handed to the queue at once, and how often in one tick at most. */
const batchSize = 1_000;
const batchesMax = 10;

/** Looks at one connection or account that is due: follows an authorisation while that is open, synchronises afterwards. */
@Processor('sync', { concurrency: 4 })
export class ConnectionProcessor extends WorkerHost {
  private readonly log = createLogger('sync');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @InjectQueue('sync') private readonly queue: Queue,
    private readonly authorisation: AuthorisationService,
    private readonly sync: SyncService,
    private readonly accounts: AccountSync,
    private readonly schedule: SyncSchedule,
  ) {
    super();
  }

  process(job: Job<{ id: string }>, _token?: string, signal?: AbortSignal): Promise<void> {
    return runJob(this.log, job, () => {
      if (job.name === 'tick') return enqueueDueSyncs(this.pool, this.queue);
      return job.name === 'account' ? this.accounts.run(job.data.id, signal) : this.look(job.data.id);
    });
  }

  private async look(id: string): Promise<void> {
    try {
      const { rows } = await this.pool.query<Waiting>(
        'select id, merchant_id, institution_id, status, consent_id, return_url, created_at from connections where id = $1',
        [id],
      );
      const connection = rows[0];
      if (!connection) return;
      if (isWaiting(connection.status)) await this.authorisation.lookAfter(connection);
      else await this.schedule.accounts(await this.sync.run(id));
    } finally {
      await this.pool.query('update connections set sync_lease_until = null where id = $1', [id]);
    }
  }
}

/** Hands what is due to the queue; after the queue was wiped, everything that had been handed out before as well. */
export async function enqueueDueSyncs(pool: Pool, queue: Queue): Promise<void> {
  if (!(await keptItsJobs(queue))) {
    await releaseLeases(pool, due);
    await releaseHandedOut(pool);
  }
  await enqueueTaken(pool, queue, due);
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const ids = await takeReadyAccounts(pool, batchSize);
    if (ids.length > 0) await queue.addBulk(accountJobs(ids));
    if (ids.length < batchSize) return;
  }
}
