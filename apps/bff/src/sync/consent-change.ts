import type { PoolClient } from 'pg';
import { unschedule } from './account-schedule.js';
import { meaningOf, type SyncProblem } from './sync-fault.js';
import { currentRun, endRun, SyncRunStatus } from './sync-run.js';

/** Nothing of a connection is due any more, and a synchronisation under way is over: its consent is not to be used. */
export async function stopReading(client: PoolClient, connectionId: string, reason: string | undefined): Promise<void> {
  await unschedule(client, connectionId);
  const run = await currentRun(client, connectionId);
  if (run) await endRun(client, run.id, SyncRunStatus.failed, isSyncProblem(reason) ? reason : 'interrupted');
}

/**
 * Another consent is in use, or the same one again: its calls are counted anew, and the next list makes everything due, all
 * history too, because the institution tells most in the minutes after its customer was there.
 */
export async function startReading(client: PoolClient, connectionId: string): Promise<void> {
  await client.query(
    'update account_schedules set due_at = null, ready_at = null, run_id = null, audited_at = null where connection_id = $1',
    [connectionId],
  );
  await client.query('delete from call_ledgers where connection_id = $1', [connectionId]);
}

function isSyncProblem(reason: string | undefined): reason is SyncProblem {
  return reason !== undefined && meaningOf(reason) !== undefined;
}
