import type { PoolClient } from 'pg';
import type { Balances } from '#libs/contract';
import { now } from '#libs/server';
import { restOf } from './answer-match.js';
import type { Window } from './coverage.js';
import { reconcileRest } from './reconcile.js';
import { addStaged, type Counts, noCounts, recordChanges, type Recorded } from './record-changes.js';
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
  const rest = await restOf(tx, staged, window);
  const changes = reconcileRest(rest, ({ newId }) => newId);
  return recordChanges(tx, recorded, { staged, changes });
}
