import type { Queryable } from '#libs/database';
import { now } from '#libs/server';
import { type Budget, callsPerDayDefault, counted, nextPossibleAt, type SyncScope } from './call-budget.js';

/** Whose calls are counted: an account's, or for the list of accounts a connection's. */
export interface Subject {
  id: string;
  connectionId: string;
  institutionId: string;
}

interface LedgerRow {
  calls: Date[] | null;
  blocked_until: Date | null;
  calls_per_day: number | null;
}

/** The budget of one scope as it stands now. */
export async function readBudget(client: Queryable, subject: Subject, scope: SyncScope): Promise<Budget> {
  const { rows } = await client.query<LedgerRow>(
    `select l.calls, l.blocked_until, r.calls_per_day from (select $1::uuid as id, $2::text as scope, $3::text as institution) w
     left join call_ledgers l on l.subject_id = w.id and l.scope = w.scope
     left join institution_reaches r on r.institution_id = w.institution`,
    [subject.id, scope, subject.institutionId],
  );
  const row = rows[0];
  return {
    calls: row?.calls ?? [],
    blockedUntil: row?.blocked_until ?? null,
    perDay: row?.calls_per_day ?? callsPerDayDefault,
  };
}

/** The budget says that the call may not be made yet. Not a fault: nothing has failed. */
export class NotDueYet extends Error {
  override readonly name = 'NotDueYet';

  constructor(readonly possibleAt: Date) {
    super('The calls of the day are spent');
  }
}

/**
 * Enters a call into the ledger before it is made, so that a crash counts one too many rather than one too few. Throws
 * NotDueYet when the budget does not allow it. One worker at a time: the caller holds the subject's lease.
 */
export async function enterCall(client: Queryable, subject: Subject, scope: SyncScope): Promise<Date> {
  const at = now();
  const budget = await readBudget(client, subject, scope);
  const possible = nextPossibleAt(budget, at);
  if (possible > at) throw new NotDueYet(possible);
  await writeCalls(client, subject, scope, [...counted(budget.calls, at), at]);
  return at;
}

/** Takes a call back that is known not to have reached the institution. */
export async function strikeCall(client: Queryable, subject: Subject, scope: SyncScope, entered: Date): Promise<void> {
  await client.query('update call_ledgers set calls = array_remove(calls, $3) where subject_id = $1 and scope = $2', [
    subject.id,
    scope,
    entered,
  ]);
}

/** Notes until when the institution has asked to be left alone. */
export async function blockCalls(client: Queryable, subject: Subject, scope: SyncScope, until: Date): Promise<void> {
  await client.query(
    `insert into call_ledgers (subject_id, scope, connection_id, calls, blocked_until) values ($1, $2, $3, '{}', $4)
     on conflict (subject_id, scope) do update set blocked_until = excluded.blocked_until`,
    [subject.id, scope, subject.connectionId, until],
  );
}

/** Says when the scopes are to be read next. */
export async function planScopes(
  client: Queryable,
  subject: Subject,
  plan: readonly { scope: SyncScope; nextAt: Date }[],
): Promise<void> {
  await client.query(
    `insert into call_ledgers (subject_id, scope, connection_id, calls, next_at)
     select $1, u.scope, $2, '{}', u.next_at from unnest($3::text[], $4::timestamptz[]) as u(scope, next_at)
     on conflict (subject_id, scope) do update set next_at = excluded.next_at, connection_id = excluded.connection_id`,
    [subject.id, subject.connectionId, plan.map(({ scope }) => scope), plan.map(({ nextAt }) => nextAt)],
  );
}

function writeCalls(client: Queryable, subject: Subject, scope: SyncScope, calls: readonly Date[]): Promise<unknown> {
  return client.query(
    `insert into call_ledgers (subject_id, scope, connection_id, calls) values ($1, $2, $3, $4)
     on conflict (subject_id, scope) do update set calls = excluded.calls, connection_id = excluded.connection_id`,
    [subject.id, scope, subject.connectionId, calls],
  );
}
