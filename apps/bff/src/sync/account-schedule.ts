import type { Pool, PoolClient } from 'pg';
import type { Queryable } from '#libs/database';
import { now } from '#libs/server';
import type { KnownAccount } from './record-accounts.js';
import type { SyncProblem } from './sync-fault.js';
import { loseAccounts } from './sync-run.js';

/** A job has an account in hand for so long; renewed while it works, so a crashed worker's accounts are free again soon. */
export const handMs = 60_000;

/** Accounts that are due so soon are read together with one that is. */
const togetherMs = 30 * 60_000;

/**
 * Hands out accounts that are due, the longest overdue first. Several schedulers at once get different ones. What is handed
 * out is not ready again for a while, so the cost of a tick follows what is due and not what exists or is in hand.
 */
export async function takeReadyAccounts(pool: Pool, limit: number): Promise<string[]> {
  const at = now();
  const { rows } = await pool.query<{ id: string }>(
    `with ready as (
       select account_id from account_schedules where ready_at <= $1 order by ready_at limit $2 for update skip locked
     )
     update account_schedules s set ready_at = $3 from ready where s.account_id = ready.account_id returning s.account_id as id`,
    [at, limit, new Date(at.getTime() + handMs)],
  );
  return rows.map(({ id }) => id);
}

/** Takes back everything that was handed out: the queue has lost its jobs. */
export async function releaseHandedOut(pool: Pool): Promise<void> {
  await pool.query(
    `update account_schedules set ready_at = due_at where account_id in (
       select account_id from account_schedules where due_at <= $1 and ready_at > $1 for update skip locked)`,
    [now()],
  );
}

/** Keeps an account in hand for another while. */
export async function keepInHand(pool: Pool, accountId: string): Promise<void> {
  await pool.query('update account_schedules set ready_at = $2 where account_id = $1 and due_at is not null', [
    accountId,
    new Date(now().getTime() + handMs),
  ]);
}

/** Lets go of an account: it is ready again when it is due. */
export async function letGo(pool: Pool, accountId: string): Promise<void> {
  await pool.query('update account_schedules set ready_at = due_at where account_id = $1', [accountId]);
}

/**
 * Puts the accounts of a fresh list on the schedule, and into the run those that are to be read now: new ones, ones that came
 * here from an earlier connection, and ones that are due or nearly so. Accounts that the consent shows no longer have
 * nothing to be read until a list shows them again. With this connection and the earlier ones locked.
 */
export async function scheduleAccounts(
  tx: PoolClient,
  { connectionId, runId }: { connectionId: string; runId: string },
  accounts: readonly KnownAccount[],
): Promise<string[]> {
  const at = now();
  const ids = accounts.map(({ id }) => id);
  const left = await runsLeft(tx, connectionId, ids);
  await tx.query(
    `insert into account_schedules as s (account_id, connection_id, due_at, ready_at)
     select u.id, $1, $2, $2 from unnest($3::uuid[]) as u(id)
     on conflict (account_id) do update set connection_id = $1,
       due_at = case when s.connection_id = $1 then coalesce(s.due_at, $2) else $2 end,
       ready_at = case when s.connection_id = $1 then coalesce(s.ready_at, $2) else $2 end,
       problem = nullif(s.problem, 'not-shared'), audited_at = case when s.connection_id = $1 then s.audited_at end,
       run_id = case when s.connection_id = $1 then s.run_id end`,
    [connectionId, at, ids],
  );
  for (const { id, accounts: count } of left) await loseAccounts(tx, id, count);
  // What was counted of an account is counted of it here.
  await tx.query('update call_ledgers set connection_id = $1 where subject_id = any($2) and connection_id <> $1', [
    connectionId,
    ids,
  ]);
  await tx.query(
    `update account_schedules set due_at = null, ready_at = null, run_id = null, problem = 'not-shared'
     where connection_id = $1 and account_id <> all($2)`,
    [connectionId, ids],
  );
  return joinRun(tx, { connectionId, runId }, new Date(at.getTime() + togetherMs));
}

/** The runs of earlier connections in which accounts were to be read that have come to this one. */
async function runsLeft(
  tx: PoolClient,
  connectionId: string,
  accountIds: readonly string[],
): Promise<{ id: string; accounts: number }[]> {
  const { rows } = await tx.query<{ id: string; accounts: number }>(
    `select run_id as id, count(*)::int as accounts from account_schedules
     where account_id = any($2) and connection_id <> $1 and run_id is not null group by run_id`,
    [connectionId, accountIds],
  );
  return rows;
}

/** Puts a connection's accounts that are due until `until`, or all that can be read, into the run, and makes them due now. */
export async function joinRun(
  tx: PoolClient,
  { connectionId, runId }: { connectionId: string; runId: string },
  until?: Date,
): Promise<string[]> {
  const { rows } = await tx.query<{ account_id: string }>(
    `update account_schedules set run_id = $2, due_at = least(due_at, $3), ready_at = least(ready_at, $3)
     where connection_id = $1 and run_id is null and due_at is not null and due_at <= coalesce($4, due_at) returning account_id`,
    [connectionId, runId, now(), until ?? null],
  );
  if (rows.length > 0)
    await tx.query('update sync_runs set accounts = accounts + $2 where id = $1', [runId, rows.length]);
  return rows.map(({ account_id: id }) => id);
}

/** The accounts that are due at about the same time as one that is. */
export function joinRunTogether(tx: PoolClient, run: { connectionId: string; runId: string }): Promise<string[]> {
  return joinRun(tx, run, new Date(now().getTime() + togetherMs));
}

/** Nothing more is read through a connection until it is active again and lists its accounts. */
export async function unschedule(client: Queryable, connectionId: string): Promise<void> {
  await client.query(
    'update account_schedules set due_at = null, ready_at = null, run_id = null where connection_id = $1',
    [connectionId],
  );
}

/** Another connection has the account, and puts it on its own schedule with its next list; until then it is not read in vain. */
export async function leaveToOther(
  client: Queryable,
  account: { account_id: string; connection_id: string },
): Promise<void> {
  const text =
    'update account_schedules set due_at = null, ready_at = null where account_id = $1 and connection_id = $2';
  await client.query(text, [account.account_id, account.connection_id]);
}

/** The account is held against its whole history at the next time that this is due, and not before. */
export async function leaveAudit(pool: Pool, accountId: string): Promise<void> {
  await pool.query('update account_schedules set audited_at = $2 where account_id = $1', [accountId, now()]);
}

/** How a reading ended, and when the next is due. */
export interface Settled {
  accountId: string;
  /** Through which it was read. */
  connectionId: string;
  dueAt: Date;
  failures: number;
  problem: SyncProblem | null;
}

/** Writes down how a reading ended; nothing where another connection has the account meanwhile, and its own plan for it. */
export async function settleSchedule(
  client: Queryable,
  { accountId, connectionId, dueAt, failures, problem }: Settled,
): Promise<void> {
  await client.query(
    `update account_schedules set due_at = $2, ready_at = $2, failures = $3, problem = $4
     where account_id = $1 and connection_id = $5`,
    [accountId, dueAt, failures, problem, connectionId],
  );
}
