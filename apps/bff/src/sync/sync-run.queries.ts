import type { Pool } from 'pg';
import { now } from '#libs/server';
import { toProgress, type RunRow } from '../connections/sync-progress.js';
import { callsPerDayDefault, nextPossibleAt } from './call-budget.js';
import { type Meaning, meaningOf, syncProblems } from './sync-fault.js';
import type { AccountSyncView, Explanation, SyncRunView, UnreadPart } from './sync-run.dto.js';
import type { Unread } from './sync-run.js';

/** As JSON has it; without an account where it is the list. */
type StoredUnread = Pick<Unread, 'problem'> & {
  accountId?: string;
  scopes: UnreadPart['scopes'];
  possibleAt: string;
  dueAt: string;
};

interface RunViewRow extends RunRow {
  connection_id: string;
  attended: boolean;
  accounts_not_due: number;
  unread: StoredUnread[];
  next_at: Date | null;
}

/** Runs as they stand now. The caller has seen to it that they may be shown. */
export async function selectRuns(pool: Pool, ids: readonly string[]): Promise<SyncRunView[]> {
  const { rows } = await pool.query<RunViewRow>(
    `select r.*, (select min(due_at) from account_schedules where connection_id = r.connection_id) as next_at
     from sync_runs r where r.id = any($1)`,
    [ids],
  );
  return rows.map(toRunView);
}

function toRunView(row: RunViewRow): SyncRunView {
  const at = row.next_at?.toISOString();
  const notRead = row.unread.map(toUnreadPart);
  const [possibleAt] = notRead.map(({ nextPossibleAt: possible }) => possible).toSorted();
  return {
    connectionId: row.connection_id,
    attended: row.attended,
    ...toProgress(row),
    accountsNotDue: row.accounts_not_due,
    ...(at === undefined ? {} : { nextSyncAt: at }),
    ...(possibleAt === undefined ? {} : { nextPossibleAt: possibleAt }),
    notRead,
    ...explained(row.problem, row.next_at),
  };
}

function toUnreadPart({ accountId, scopes, problem, possibleAt, dueAt }: StoredUnread): UnreadPart {
  const explanation = explanationOf(problem, syncProblems[problem], new Date(dueAt));
  return { ...(accountId === undefined ? {} : { accountId }), scopes, nextPossibleAt: possibleAt, explanation };
}

/** The members that explain a reason; none where there is none. */
function explained(problem: string | null, at: Date | null): { explanation?: Explanation } {
  const meaning = problem === null ? undefined : meaningOf(problem);
  if (problem === null || !meaning) return {};
  return { explanation: explanationOf(problem, meaning, at) };
}

function explanationOf(reason: string, { owner, nextStep }: Meaning, at: Date | null): Explanation {
  return { reason, owner, nextStep, ...(at === null ? {} : { at: at.toISOString() }) };
}

interface StatusRow {
  id: string;
  due_at: Date | null;
  problem: string | null;
  history_from: Date | null;
  audited_at: Date | null;
  not_offered: NonNullable<AccountSyncView['notOffered']>;
  calls: Date[] | null;
  blocked_until: Date | null;
  calls_per_day: number | null;
}

/** How the reading of each account stands. */
export async function selectAccountStatuses(
  pool: Pool,
  accountIds: readonly string[],
): Promise<Map<string, AccountSyncView>> {
  const { rows } = await pool.query<StatusRow>(
    `select s.account_id as id, s.due_at, s.problem, s.history_from, s.audited_at, s.not_offered, l.calls, l.blocked_until, r.calls_per_day
     from account_schedules s join accounts a on a.id = s.account_id
     left join call_ledgers l on l.subject_id = s.account_id and l.scope = 'transactions'
     left join institution_reaches r on r.institution_id = a.institution_id
     where s.account_id = any($1)`,
    [accountIds],
  );
  const at = now();
  return new Map(rows.map((row) => [row.id, toStatus(row, at)]));
}

function toStatus(row: StatusRow, at: Date): AccountSyncView {
  const budget = {
    calls: row.calls ?? [],
    blockedUntil: row.blocked_until,
    perDay: row.calls_per_day ?? callsPerDayDefault,
  };
  return {
    nextPossibleAt: nextPossibleAt(budget, at).toISOString(),
    ...(row.due_at === null ? {} : { nextSyncAt: row.due_at.toISOString() }),
    ...(row.history_from === null ? {} : { historyFrom: row.history_from.toISOString() }),
    ...(row.audited_at === null ? {} : { auditedAt: row.audited_at.toISOString() }),
    ...(row.not_offered.length === 0 ? {} : { notOffered: row.not_offered }),
    ...explained(row.problem, row.due_at),
  };
}
