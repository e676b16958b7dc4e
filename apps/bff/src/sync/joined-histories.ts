import type { Pool, PoolClient } from 'pg';
import { type Change, type Flag, hasRow } from './change.js';
import { InstitutionPolicies } from './institution-policies.js';
import { type KnownTransaction, reconcile } from './reconcile.js';
import type { StagedRow } from './record-changes.js';
import { rowOfServed, transactionOf } from './served-text.js';
import { StagedAnswer } from './staged-answer.js';

/** Two accounts that are one. */
export interface Histories {
  institutionId: string;
  /** The one that is read no more. */
  restId: string;
  /** The one that is read. */
  readId: string;
}

/** What is to be recorded of the transactions of both, and the rows of which it speaks. */
export interface JoinedHistories {
  staged: StagedAnswer;
  changes: Change<StagedRow>[];
}

/**
 * Holds what the account that is read shows against what the other one was, as if it were the bank's answer, so that nothing is
 * there twice once they are one. The older ids live on. Equal rows are paired inside Postgres. The rows are put aside under
 * `accountId`; nothing is recorded yet, and nothing may have been moved yet.
 */
export async function joinHistories(
  tx: PoolClient,
  pool: Pool,
  { accountId, ...histories }: Histories & { accountId: string },
): Promise<JoinedHistories> {
  const staged = StagedAnswer.beside(pool, { accountId });
  const equal = await equalRows(tx, histories);
  const lines = await linesBeside(tx, histories, equal);
  const known = lines.filter((line) => line.account_id === histories.restId).map(toKnown);
  const shown = lines.filter((line) => line.account_id === histories.readId);
  const rows = shown.map(({ id, wire }): StagedRow => ({ ...rowOfServed(wire), ordinal: -1, newId: id }));
  const { policy } = await InstitutionPolicies.read(tx, histories.institutionId);
  const window = { from: null, before: null, ...(await earliestOf(tx, histories)) };
  const { changes } = reconcile(known, { ...window, rows }, { newId: ({ newId }) => newId, policy });
  const wires = new Map(shown.map(({ id, wire }) => [id, wire]));
  const spoken: string[] = [];
  const joined = [...equal.flatMap(ofEqual), ...changes.flatMap(asJoined)].map((change): Change<StagedRow> => {
    if (!hasRow(change)) return change;
    spoken.push(wires.get(change.row.newId) ?? '');
    return { ...change, row: { ...change.row, ordinal: spoken.length - 1 } };
  });
  await staged.addWith(tx, spoken.map(transactionOf));
  return { staged, changes: joined };
}

/** What a comparison says of rows that have ids already: none is new, and what was recognised is no transaction of its own. */
function asJoined(change: Change<StagedRow>): Change<StagedRow>[] {
  if (change.kind === 'added')
    return change.flag === undefined ? [] : [{ kind: 'flagged', id: change.id, flag: change.flag }];
  if (!hasRow(change) || change.id === change.row.newId) return [change];
  const into = change.kind === 'joined' ? change.into : change.id;
  return [change, { kind: 'removed', id: change.row.newId, reason: 'joined', into }];
}

interface EqualRows {
  known: string;
  shown: string;
  /** Of the known one: what is in doubt about it, and of what it is another face. */
  flag: string | null;
  into: string | null;
}

function ofEqual({ known, shown, flag, into }: EqualRows): Change<StagedRow>[] {
  const isBack = flag !== null && (JSON.parse(flag) as Flag).reason === 'booked-vanished';
  const removed = { kind: 'removed', id: shown, reason: 'joined', into: into ?? known } as const;
  return isBack ? [removed, { kind: 'cleared', id: known }] : [removed];
}

/**
 * Pairs of transactions that say the same, as multisets. Grouped and not joined: the planner takes an account that is newer than
 * its statistics for one row, and would go through it again for every row of the other.
 */
async function equalRows(tx: PoolClient, { restId, readId }: Histories): Promise<EqualRows[]> {
  const of = (place: string, column: string) => `(array_agg(${column}) filter (where account_id = ${place}))[1]`;
  const { rows } = await tx.query<EqualRows>(
    `select ${of('$1', 'id')} as known, ${of('$1', 'flag')} as flag, ${of('$1', 'joined_into')} as into, ${of('$2', 'id')} as shown from (
       select id, account_id, flag, joined_into, fingerprint,
         row_number() over (partition by account_id, fingerprint order by joined_into is not null, flag is not null, id) as n
       from transactions where ${isCompared}) numbered
     group by fingerprint, n having count(*) = 2`,
    [restId, readId],
  );
  return rows;
}

/** Other faces of what was known tell, too, what a row is. */
const isCompared = 'account_id in ($1, $2) and (removed_at is null or joined_into is not null and account_id = $1)';

interface Line {
  id: string;
  account_id: string;
  flag: string | null;
  joined_into: string | null;
  apart_from: string[];
  dismissed: Flag['reason'] | null;
  wire: string;
}

/** The transactions of both that have no equal. */
async function linesBeside(
  tx: PoolClient,
  { restId, readId }: Histories,
  equal: readonly EqualRows[],
): Promise<Line[]> {
  const { rows } = await tx.query<Line>(
    `select id, account_id, flag, joined_into, apart_from, dismissed, wire from transactions where ${isCompared} and id <> all($3)`,
    [restId, readId, equal.flatMap(({ known, shown }) => [known, shown])],
  );
  return rows;
}

function toKnown({ id, flag, joined_into: into, apart_from: apartFrom, dismissed, wire }: Line): KnownTransaction {
  const said = flag === null ? null : (JSON.parse(flag) as Flag);
  return { ...rowOfServed(wire), id, flag: said, into, apartFrom, dismissed };
}

/** From when on the account that is read is known. */
async function earliestOf(tx: PoolClient, { readId }: Histories): Promise<{ completeFrom?: Date }> {
  const { rows } = await tx.query<{ earliest: Date | null }>(
    'select min(date) as earliest from transactions where account_id = $1 and removed_at is null',
    [readId],
  );
  const earliest = rows[0]?.earliest;
  return earliest ? { completeFrom: earliest } : {};
}
