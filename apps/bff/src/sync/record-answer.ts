import type { PoolClient } from 'pg';
import type { Balances } from '#libs/contract';
import { now } from '#libs/server';
import { partsOf } from './answer-match.js';
import type { Window } from './coverage.js';
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

/** What the balances say about the rows. */
export interface BalanceProof {
  /** Decimal text: what the bank's balance holds beyond the rows; zero when they agree. */
  difference: string;
  currency: string;
  /** Transactions that may explain it. */
  candidates: string[];
}

export interface Outcome extends Counts {
  /** Absent where no balance can be proven. */
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
  { staged, window, balances }: { staged: StagedAnswer; window: Window; balances: Balances | undefined },
): Promise<Outcome> {
  await staged.assertWhole(tx);
  const counts = await recordRows(tx, recorded, { staged, window });
  await tx.query(
    `update accounts set last_synced_at = $2, balances = coalesce($3, balances),
       balances_at = case when $3::text is null then balances_at else $2 end where id = $1`,
    [recorded.accountId, now(), balances === undefined ? null : JSON.stringify(balances)],
  );
  return { ...counts, proof: undefined, lateness: { daysMax: 0 } };
}

async function recordRows(
  tx: PoolClient,
  recorded: RecordedAnswer,
  { staged, window }: { staged: StagedAnswer; window: Window },
): Promise<Counts> {
  const { rows } = await tx.query<{ known: boolean }>(
    'select exists (select from transactions where account_id = $1) as known',
    [recorded.accountId],
  );
  if (!rows[0]?.known) return { ...noCounts(), added: await addStaged(tx, recorded, { staged, except: [] }) };
  return recordParts(tx, recorded, { staged, window });
}

/** Compares part after part, so that memory stays bounded however much a bank has changed. */
async function recordParts(
  tx: PoolClient,
  recorded: RecordedAnswer,
  { staged, window }: { staged: StagedAnswer; window: Window },
): Promise<Counts> {
  const policies = await InstitutionPolicies.read(tx, recorded.institutionId);
  const terms = { newId: ({ newId }: StagedRow) => newId, policy: policies.policy };
  const counts = noCounts();
  let carried: Open<StagedRow> = { known: [], rows: [] };
  let compared = 0;
  for await (const { rest, border } of partsOf(tx, staged, window)) {
    compared += rest.rows.length;
    const open = { known: [...carried.known, ...rest.known], rows: [...carried.rows, ...rest.rows] };
    const reconciled = reconcileRest({ ...rest, ...open }, terms, border);
    ({ carried } = reconciled);
    policies.learn(reconciled.evidence);
    const part = await recordChanges(tx, recorded, { staged, changes: reconciled.changes });
    for (const [kind, count] of Object.entries(part) as [keyof Counts, number][]) counts[kind] += count;
  }
  policies.learn({ ...noEvidence, idsKept: Math.max(0, (await idsGiven(tx, staged)) - compared) });
  await policies.write(tx);
  return counts;
}

/** How many rows of an answer have an id. */
async function idsGiven(tx: PoolClient, staged: StagedAnswer): Promise<number> {
  const { rows } = await tx.query<{ given: string }>(
    'select count(bank_id) as given from staged_rows where account_id = $1 and answer_id = $2',
    [staged.accountId, staged.id],
  );
  return Number(rows[0]?.given);
}
