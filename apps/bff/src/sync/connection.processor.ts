import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { InjectQueue, type Job, POOL, Processor, type Queue, WorkerHost } from '#libs/database';
import { AuthorisationService, type Waiting } from '../connections/authorisation.service.js';
import { isWaiting } from '../connections/connection-state.js';
import { enqueueDue } from '../due-jobs.js';
import { SyncService } from './sync.service.js';

const due = { table: 'connections', dueColumn: 'next_sync_at', leaseColumn: 'sync_lease_until', leaseMs: 15 * 60_000 };

/** Looks at one connection that is due: follows its authorisation while that is open, synchronises it afterwards. */
@Processor('sync', { concurrency: 4 })
export class ConnectionProcessor extends WorkerHost {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @InjectQueue('sync') private readonly queue: Queue,
    private readonly authorisation: AuthorisationService,
    private readonly sync: SyncService,
  ) {
    super();
  }

  async process(job: Job<{ id: string }>): Promise<void> {
    if (job.name === 'tick') return enqueueDue(this.pool, this.queue, due);
    const { id } = job.data;
    try {
      const { rows } = await this.pool.query<Waiting>(
        'select id, merchant_id, status, consent_id, return_url, created_at from connections where id = $1',
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
