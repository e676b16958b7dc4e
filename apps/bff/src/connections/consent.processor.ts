import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { type Due, InjectQueue, type Job, POOL, Processor, type Queue, takeDue, WorkerHost } from '#libs/database';
import { createLogger } from '#libs/server';
import { ConsentProbe } from '../consents/consent-probe.service.js';
import { Notices } from '../consents/notices.service.js';
import { Withdrawals } from '../consents/withdrawals.service.js';
import { jobOptions, runJob } from '../due-jobs.js';
import { RenewalCompletion } from './renewal-completion.service.js';
import { findRenewal } from './renewals.queries.js';

/** What a tick hands out, by the name of the job. */
const dues: Readonly<Record<string, Due>> = {
  probe: due('connections', 'next_probe_at', 'probe_lease_until'),
  renewal: due('renewals', 'next_look_at', 'lease_until'),
  withdrawal: due('withdrawals', 'next_attempt_at', 'lease_until'),
};

function due(table: string, dueColumn: string, leaseColumn: string): Due {
  return { table, dueColumn, leaseColumn, leaseMs: 60_000, limit: 200 };
}

/** Keeps consents: tells of their ends, probes them, follows renewals, and ends what nobody needs. */
@Processor('consents', { concurrency: 4 })
export class ConsentProcessor extends WorkerHost {
  private readonly log = createLogger('consents');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @InjectQueue('consents') private readonly queue: Queue,
    private readonly notices: Notices,
    private readonly probe: ConsentProbe,
    private readonly renewals: RenewalCompletion,
    private readonly withdrawals: Withdrawals,
  ) {
    super();
  }

  process(job: Job<{ id: string }>): Promise<void> {
    return runJob(this.log, job, () => (job.name === 'tick' ? this.tick() : this.look(job.name, job.data.id)));
  }

  private async tick(): Promise<void> {
    await this.notices.run();
    for (const [name, each] of Object.entries(dues)) {
      const rows = await takeDue<{ id: string }>(this.pool, each);
      if (rows.length === 0) continue;
      await this.queue.addBulk(
        rows.map(({ id }) => ({ name, data: { id }, opts: { ...jobOptions, jobId: `${name}-${id}` } })),
      );
    }
  }

  private async look(name: string, id: string): Promise<void> {
    if (name === 'probe') return this.probe.run(id);
    if (name === 'withdrawal') return this.withdrawals.run(id);
    const renewal = await findRenewal(this.pool, id);
    if (renewal) await this.renewals.lookAfter(renewal);
    await this.pool.query('update renewals set lease_until = null where id = $1', [id]);
  }
}
