import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { now } from '#libs/server';

/** How a synchronisation stands or ended. `incomplete`: some accounts were read, others will be tried again. */
export const SyncRunStatus = {
  running: 'running',
  completed: 'completed',
  incomplete: 'incomplete',
  failed: 'failed',
} as const;
export type SyncRunStatus = (typeof SyncRunStatus)[keyof typeof SyncRunStatus];

interface Figures {
  accounts: number;
  accounts_done: number;
  pages: number;
  rows_read: number;
  rows_expected: number;
  added: number;
  modified: number;
  removed: number;
  linked: number;
  flagged: number;
  record_ms: number;
}

/** The row of one synchronisation: its progress while it runs, its figures afterwards. */
export class SyncRun {
  readonly id = randomUUID();
  private readonly figures: Figures = {
    accounts: 0,
    accounts_done: 0,
    pages: 0,
    rows_read: 0,
    rows_expected: 0,
    added: 0,
    modified: 0,
    removed: 0,
    linked: 0,
    flagged: 0,
    record_ms: 0,
  };

  private constructor(private readonly pool: Pool) {}

  /** Opens a run. One that a crash left running is closed first. */
  static async open(pool: Pool, connectionId: string): Promise<SyncRun> {
    const run = new SyncRun(pool);
    await pool.query(
      `update sync_runs set status = $2, ended_at = $3, problem = 'interrupted' where connection_id = $1 and status = $4`,
      [connectionId, SyncRunStatus.failed, now(), SyncRunStatus.running],
    );
    await pool.query('insert into sync_runs (id, connection_id, status, started_at) values ($1, $2, $3, $4)', [
      run.id,
      connectionId,
      SyncRunStatus.running,
      now(),
    ]);
    return run;
  }

  /** Adds to the figures and shows them to whoever looks at the connection. */
  async count(more: Partial<Figures>): Promise<void> {
    for (const [name, value] of Object.entries(more) as [keyof Figures, number][])
      this.figures[name] += Math.round(value);
    await this.write({});
  }

  async close(status: SyncRunStatus, problem?: string): Promise<void> {
    await this.write({ status, ended_at: now(), problem: problem ?? null });
  }

  private async write(more: Record<string, unknown>): Promise<void> {
    const set = { ...this.figures, ...more };
    const names = Object.keys(set);
    const text = `update sync_runs set ${names.map((name, index) => `${name} = $${index + 2}`).join(', ')} where id = $1`;
    await this.pool.query(text, [this.id, ...Object.values(set)]);
  }
}
