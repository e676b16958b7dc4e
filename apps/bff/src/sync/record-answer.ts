import type { PoolClient } from 'pg';
import type { Balances } from '#libs/contract';
import { now } from '#libs/server';
import { keepBalanceHistory } from '../accounts/balance-history.js';
import { beginningOf, droppedOf, partsOf } from './answer-match.js';
import { type BalanceProof, proveBalance } from './balance-proof.js';
import type { Change } from './change.js';
import { dateOf, type Window } from './coverage.js';
import { noEvidence } from './identity-policy.js';
import { InstitutionPolicies } from './institution-policies.js';
import type { Open } from './pairing.js';
import { reconcileRest } from './reconcile.js';
import { addStaged, type Counts, noCounts, recordChanges, type Recorded, type StagedRow } from './record-changes.js';
import type { StagedAnswer } from './staged-answer.js';

/** Whose answer is recorded. */
export interface RecordedAnswer extends Recorded {
  institutionId: string;
  merchantId: string;
}

/** A complete answer. */
export interface Answer {
  staged: StagedAnswer;
  window: Window;
  balances: Balances | undefined;
  /** When the balances were asked for, where that is not now. */
  balancesAt?: Date | undefined;
  /** How many lines are compared at once, other than as many as memory bears. */
  partSize?: number | undefined;
}

export interface Outcome extends Counts {
  /** Absent where no balance can be proven, or not yet. */
  proof: BalanceProof | undefined;
  /** How late the rows came that are new or booked only now: days between the last synchronisation and a row's own date. */
  lateness: { daysMax: number };
}

/**
 * Matches what was staged with what is known, and writes rows, log, learnt policy, balances and their proof in the caller's
 * transaction. The account must be locked by the caller or under its lease. Throws StageLost when staged rows are missing.
 */
export async function recordAnswer(
  tx: PoolClient,
  recorded: RecordedAnswer,
  { staged, window, balances, balancesAt: readAt = now(), partSize }: Answer,
): Promise<Outcome> {
  await staged.confirm(tx);
  const before = await standing(tx, recorded);
  const { counts, daysMax } = before.oldest
    ? await recordParts(tx, recorded, { staged, window, partSize, before })
    : { counts: await recordBeginning(tx, recorded, staged), daysMax: 0 };
  await recordBalances(tx, recorded, balances);
  const proof = balances && (await proveBalance(tx, recorded, { balances, readAt, since: before.sequence }));
  return { ...counts, proof, lateness: { daysMax } };
}

/** Writes balances, where there are any, and that the account has been read. */
export async function recordBalances(
  tx: PoolClient,
  { accountId }: Pick<Recorded, 'accountId'>,
  balances: Balances | undefined,
): Promise<void> {
  const at = now();
  await tx.query(
    `update accounts set last_synced_at = $2, balances = coalesce($3, balances),
       balances_at = case when $3::text is null then balances_at else $2 end where id = $1`,
    [accountId, at, balances === undefined ? null : JSON.stringify(balances)],
  );
  if (balances) await keepBalanceHistory(tx, { accountId, balances, at });
}

/** What was there before. */
interface Standing {
  /** The date of the oldest transaction; null where none was ever known. */
  oldest: Date | null;
  /** When the account was synchronised last; null where it never was. */
  syncedAt: Date | null;
  /** The last number of the customer's log. */
  sequence: string;
}

async function standing(tx: PoolClient, { accountId, customerId }: Recorded): Promise<Standing> {
  const { rows } = await tx.query<Standing>(
    `select change_sequence as sequence, (select last_synced_at from accounts where id = $1) as "syncedAt",
       (select min(date) from transactions where account_id = $1) as oldest
     from customers where id = $2`,
    [accountId, customerId],
  );
  return rows[0] ?? { oldest: null, syncedAt: null, sequence: '0' };
}

/** By how many days the last synchronisation should have shown a booking that comes only now; a deeper history is not late. Pure. */
function latenessOf(change: Change<StagedRow>, { oldest, syncedAt }: Standing): number {
  if ((change.kind !== 'added' && change.kind !== 'linked') || change.row.status !== 'BOOKED') return 0;
  const date = dateOf(change.row);
  if (!date || !oldest || !syncedAt || date < oldest) return 0;
  return Math.max(0, (syncedAt.getTime() - date.getTime()) / dayMs);
}

const dayMs = 86_400_000;

/**
 * The first answer of an account. Nothing can be matched but what the answer itself shows twice, a pending row and its booking;
 * everything else is recorded without leaving the database.
 */
async function recordBeginning(tx: PoolClient, recorded: RecordedAnswer, staged: StagedAnswer): Promise<Counts> {
  const rest = await beginningOf(tx, staged);
  const except = rest.rows.map(({ ordinal }) => ordinal);
  const added = await addStaged(tx, recorded, { staged, except });
  if (rest.rows.length === 0) return { ...noCounts(), added };
  const policies = await InstitutionPolicies.read(tx, recorded.institutionId);
  const terms = { newId: ({ newId }: StagedRow) => newId, policy: policies.policy };
  const { changes, evidence } = reconcileRest(rest, terms);
  policies.learn(evidence);
  const counts = await recordChanges(tx, recorded, { staged, changes });
  await policies.write(tx);
  return { ...counts, added: counts.added + added };
}

/** Compares part after part, so that memory stays bounded however much a bank has changed. */
async function recordParts(
  tx: PoolClient,
  recorded: RecordedAnswer,
  { staged, window, partSize, before }: Pick<Answer, 'staged' | 'window' | 'partSize'> & { before: Standing },
): Promise<{ counts: Counts; daysMax: number }> {
  const policies = await InstitutionPolicies.read(tx, recorded.institutionId);
  const terms = { newId: ({ newId }: StagedRow) => newId, policy: policies.policy };
  const counts = noCounts();
  let carried: Open<StagedRow> = { known: [], rows: [] };
  let compared = 0;
  let daysMax = 0;
  for await (const { rest, border } of partsOf(tx, staged, { window, size: partSize })) {
    compared += rest.rows.filter(({ bankId }) => bankId !== null).length;
    const open = { known: [...carried.known, ...rest.known], rows: [...carried.rows, ...rest.rows] };
    const dropped = await droppedOf(tx, recorded.accountId, { ...rest, rows: open.rows });
    const reconciled = reconcileRest({ ...rest, ...open }, { ...terms, dropped }, border);
    ({ carried } = reconciled);
    policies.learn(reconciled.evidence);
    for (const change of reconciled.changes) daysMax = Math.max(daysMax, latenessOf(change, before));
    const part = await recordChanges(tx, recorded, { staged, changes: reconciled.changes });
    for (const [kind, count] of Object.entries(part) as [keyof Counts, number][]) counts[kind] += count;
  }
  policies.learn({ ...noEvidence, idsKept: Math.max(0, staged.given.ids - compared) });
  await policies.write(tx);
  return { counts, daysMax };
}
