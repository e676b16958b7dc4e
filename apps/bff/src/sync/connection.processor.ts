import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { InjectQueue, type Job, POOL, Processor, type Queue, WorkerHost } from '#libs/database';
import { createLogger } from '#libs/server';
import { AuthorisationService, type Waiting } from '../connections/authorisation.service.js';
import { isWaiting } from '../connections/connection-state.js';
import { enqueueDue, runJob } from '../due-jobs.js';
import { SyncService } from './sync.service.js';

const due = { table: 'connections', dueColumn: 'next_sync_at', leaseColumn: 'sync_lease_until', leaseMs: 60_000 };

/** Looks at one connection that is due: follows its authorisation while that is open, synchronises it afterwards. */
@Processor('sync', { concurrency: 4 })
export class ConnectionProcessor extends WorkerHost {
  private readonly log = createLogger('sync');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @InjectQueue('sync') private readonly queue: Queue,
    private readonly authorisation: AuthorisationService,
    private readonly sync: SyncService,
  ) {
    super();
  }

  process(job: Job<{ id: string }>): Promise<void> {
    return runJob(this.log, job, () => {
      return job.name === 'tick' ? enqueueDue(this.pool, this.queue, due) : this.look(job.data.id);
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
      else await this.sync.run(id);
    } finally {
      await this.pool.query('update connections set sync_lease_until = null where id = $1', [id]);
    }
  }
}
