import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { Queryable } from '#libs/database';
import { now } from '#libs/server';
import { lockConnection } from '../connections/connection-lock.js';
import { isReadable } from '../connections/connection-state.js';
import { appendEvent } from '../events/event-log.js';
import type { SyncScope } from './call-budget.js';
import type { SyncProblem } from './sync-fault.js';

/** How a synchronisation stands or ended. `incomplete`: not everything was read, what is missing will be tried again. */
export const SyncRunStatus = {
  running: 'running',
  completed: 'completed',
  incomplete: 'incomplete',
  failed: 'failed',
} as const;
export type SyncRunStatus = (typeof SyncRunStatus)[keyof typeof SyncRunStatus];

/** A run that is under way. */
export interface OpenRun {
  id: string;
  attended: boolean;
  /** The customer's headers for the institution, sealed for this run. */
  sealedPsu: string | null;
}

/** What is counted of a run while it goes on. */
export type RunFigures = Partial<
  Record<
    | 'accounts'
    | 'accounts_done'
    | 'accounts_not_due'
    | 'pages'
    | 'rows_read'
    | 'rows_expected'
    | 'added'
    | 'modified'
    | 'removed'
    | 'linked'
    | 'flagged'
    | 'record_ms',
    number
  >
>;

/** What a run was to read of an account, or of the list of accounts, and did not. */
export interface Unread {
  scopes: readonly SyncScope[];
  problem: SyncProblem;
  /** The earliest at which it may be read without the customer. */
  possibleAt: Date;
  /** When it is tried again by itself. */
  dueAt: Date;
}

interface RunRow {
  id: string;
  attended_at: Date | null;
  sealed_psu: string | null;
}

/** A customer is believed to be present for so long after they were. */
const presenceMs = 15 * 60_000;

function toOpenRun({ id, attended_at: attendedAt, sealed_psu: sealedPsu }: RunRow): OpenRun {
  const attended = attendedAt !== null && attendedAt.getTime() + presenceMs > now().getTime();
  return { id, attended, sealedPsu: attended ? sealedPsu : null };
}

/** A connection's run that is under way, if there is one: at most one at a time. */
export async function currentRun(client: Queryable, connectionId: string): Promise<OpenRun | undefined> {
  const { rows } = await client.query<RunRow>(
    `select id, attended_at, sealed_psu from sync_runs where connection_id = $1 and status = $2 order by started_at desc limit 1`,
    [connectionId, SyncRunStatus.running],
  );
  return rows[0] && toOpenRun(rows[0]);
}

/**
 * The connection's run, opened where none is under way, in the caller's transaction. The connection's row is locked, so two
 * workers never open two. Undefined where the connection has ended: whoever ended it has ended its run.
 */
export async function openRun(
  tx: PoolClient,
  connectionId: string,
  seal?: (runId: string) => string,
): Promise<(OpenRun & { isNew: boolean }) | undefined> {
  const connection = await lockConnection(tx, connectionId);
  if (!connection || !isReadable(connection.status)) return undefined;
  const current = await currentRun(tx, connectionId);
  if (current) return { ...(await joinedBy(tx, current, seal)), isNew: false };
  const id = randomUUID();
  const { rows } = await tx.query<RunRow>(
    `insert into sync_runs (id, connection_id, status, started_at, attended, attended_at, sealed_psu)
     values ($1, $2, $3, $4, $5, case when $5 then $4::timestamptz end, $6) returning id, attended_at, sealed_psu`,
    [id, connectionId, SyncRunStatus.running, now(), seal !== undefined, seal?.(id) ?? null],
  );
  const [opened] = rows;
  if (!opened) throw new Error('The run was not stored');
  return { ...toOpenRun(opened), isNew: true };
}

/** The customer came while their run was under way: what is left of it is read in their presence. */
async function joinedBy(tx: PoolClient, run: OpenRun, seal?: (runId: string) => string): Promise<OpenRun> {
  if (seal === undefined || run.attended) return run;
  const { rows } = await tx.query<RunRow>(
    `update sync_runs set attended = true, attended_at = $2, sealed_psu = $3 where id = $1 returning id, attended_at, sealed_psu`,
    [run.id, now(), seal(run.id)],
  );
  return rows[0] ? toOpenRun(rows[0]) : run;
}

/** Adds to the figures, which whoever looks at the run sees at once. */
export async function countRun(client: Queryable, runId: string, more: RunFigures): Promise<void> {
  const entries = Object.entries(more);
  if (entries.length === 0) return;
  await client.query(
    `update sync_runs set ${entries.map(([name], index) => `${name} = ${name} + $${index + 2}`).join(', ')} where id = $1`,
    [runId, ...entries.map(([, value]) => Math.round(value))],
  );
}

/** One account of a run is over. The last one ends the run. In the caller's transaction, with the connection locked. */
export async function leaveRun(
  tx: PoolClient,
  {
    runId,
    accountId,
    figures,
    unread,
  }: { runId: string; accountId: string; figures: RunFigures; unread?: Unread | undefined },
): Promise<void> {
  await countRun(tx, runId, figures);
  await noteUnread(tx, runId, { accountId, unread });
  await tx.query('update account_schedules set run_id = null where account_id = $1 and run_id = $2', [
    accountId,
    runId,
  ]);
  await endRunWhenDone(tx, runId);
}

/**
 * Notes what of an account, or of the list where none is named, a run did not read; nothing where it was read, which may be at a
 * second try. A run of which something is not read is not complete: a fault explains that better than a wait.
 */
export async function noteUnread(
  client: Queryable,
  runId: string,
  { accountId, unread }: { accountId?: string; unread?: Unread | undefined },
): Promise<void> {
  const noted = unread ? [{ ...unread, accountId }] : [];
  await client.query(
    `with noted as (
       select e from sync_runs, jsonb_array_elements(unread) e where id = $1 and e ->> 'accountId' is distinct from $2
       union all select jsonb_array_elements($3::jsonb))
     update sync_runs set unread = coalesce((select jsonb_agg(e) from noted), '[]'),
       problem = (select e ->> 'problem' from noted order by e ->> 'problem' = 'not-due-yet' limit 1)
     where id = $1 and (unread <> '[]' or $3::jsonb <> '[]')`,
    [runId, accountId ?? null, JSON.stringify(noted)],
  );
}

/** Accounts of a run have gone to another connection, which reads them: it has fewer to read, and ends where none is left. */
export async function loseAccounts(tx: PoolClient, runId: string, count: number): Promise<void> {
  await tx.query('update sync_runs set accounts = greatest(accounts - $2, accounts_done) where id = $1', [
    runId,
    count,
  ]);
  await endRunWhenDone(tx, runId);
}

/** Ends a run that no account is left in. */
export async function endRunWhenDone(tx: PoolClient, runId: string): Promise<void> {
  const { rows } = await tx.query<{ problem: SyncProblem | null }>(
    `select problem from sync_runs where id = $1 and status = $2
       and not exists (select 1 from account_schedules where run_id = $1) for update`,
    [runId, SyncRunStatus.running],
  );
  const [run] = rows;
  if (!run) return;
  const status = run.problem === null ? SyncRunStatus.completed : SyncRunStatus.incomplete;
  await endRun(tx, runId, status, run.problem);
}

/** Ends a run, brings the connection's health up to date and tells the merchant, all in the caller's transaction. */
export async function endRun(
  tx: PoolClient,
  runId: string,
  status: SyncRunStatus,
  problem: SyncProblem | null,
): Promise<void> {
  const at = now();
  await tx.query('update account_schedules set run_id = null where run_id = $1', [runId]);
  const { rows } = await tx.query<{ connection_id: string }>(
    `update sync_runs set status = $2, problem = $3, ended_at = $4, sealed_psu = null where id = $1 and status = $5
     returning connection_id`,
    [runId, status, problem, at, SyncRunStatus.running],
  );
  const connectionId = rows[0]?.connection_id;
  if (connectionId === undefined) return;
  const isGood = status === SyncRunStatus.completed;
  const { rows: owners } = await tx.query<{ merchant_id: string; customer_id: string; next_at: Date | null }>(
    `update connections c set last_synced_at = case when $3 then $2 else last_synced_at end,
       health = case when $4::text <> 'not-due-yet'
         or exists (select 1 from account_schedules where connection_id = $1 and problem is not null) then 'degraded' else 'healthy' end
     where id = $1 returning merchant_id, customer_id,
       (select min(due_at) from account_schedules where connection_id = $1) as next_at`,
    [connectionId, at, isGood, problem],
  );
  const [owner] = owners;
  if (!owner) return;
  await appendEvent(tx, {
    merchantId: owner.merchant_id,
    customerId: owner.customer_id,
    type: 'connection.synced',
    data: { connectionId, syncRunId: runId, problem, nextSyncAt: owner.next_at?.toISOString() ?? null },
  });
}
