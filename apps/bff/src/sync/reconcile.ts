import type { Change, Flag } from './change.js';
import type { TransactionRow } from './transaction-row.js';

/** A transaction of the account that is in the table and not removed. */
export interface KnownTransaction extends Omit<TransactionRow, 'wire' | 'amount'> {
  /** Ours, for life. */
  id: string;
  flag: Flag | null;
}

/** One complete answer: every page was read. */
export interface Answer {
  rows: readonly TransactionRow[];
  /** What was asked for, both ends included; null is open. */
  from: Date | null;
  before: Date | null;
  /**
   * From when on the answer is sure to hold everything. Banks silently shorten long histories, so without it the answer is
   * taken to reach back to its own earliest row.
   */
  completeFrom?: Date;
}

/**
 * Compares all live transactions of one account with one complete answer of the bank and says what changed.
 * Pure: `newId` is called once for every added row, in an order that depends on the rows alone.
 */
export function reconcile(
  known: readonly KnownTransaction[],
  answer: Answer,
  newId: (row: TransactionRow) => string,
): Change[] {
  const stored = new Set(known.map(({ fingerprint }) => fingerprint));
  const added = answer.rows.filter(({ fingerprint }) => !stored.has(fingerprint));
  return added.map((row) => ({ kind: 'added', id: newId(row), row }));
}
