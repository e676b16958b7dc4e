import type { SyncProgress } from './connection.dto.js';

/** A run's row as JSON or as columns. */
export interface RunRow {
  id: string;
  status: string;
  started_at: string | Date;
  ended_at: string | Date | null;
  accounts: number;
  accounts_done: number;
  pages: number;
  rows_read: number;
  rows_expected: number;
  added: number;
  modified: number;
  removed: number;
  record_ms: number;
  problem: string | null;
}

/** What is shown of a run. */
export function toProgress(run: RunRow): SyncProgress {
  const changed = run.added + run.modified + run.removed;
  const perSecond =
    run.ended_at === null || run.record_ms === 0 ? undefined : Math.round((run.rows_read * 1000) / run.record_ms);
  return {
    id: run.id,
    status: run.status,
    startedAt: new Date(run.started_at).toISOString(),
    ...(run.ended_at === null ? {} : { endedAt: new Date(run.ended_at).toISOString() }),
    accounts: run.accounts,
    accountsDone: run.accounts_done,
    pages: run.pages,
    rowsRead: run.rows_read,
    rowsExpected: Math.max(run.rows_expected, run.rows_read),
    added: run.added,
    modified: run.modified,
    removed: run.removed,
    ...(perSecond === undefined || changed === 0 ? {} : { rowsPerSecond: perSecond }),
    ...(run.problem === null ? {} : { problem: run.problem }),
  };
}
