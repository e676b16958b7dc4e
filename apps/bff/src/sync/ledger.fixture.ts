import type { Transaction } from '#libs/contract';
import type { Change } from './change.js';
import { apply, type LoggedTransaction } from './change-log.js';
import { reconcile, type Answer, type KnownTransaction } from './reconcile.js';
import { rowOf, type TransactionRow } from './transaction-row.js';

export interface Said {
  id?: string;
  day?: number;
  amount?: number;
  text?: string;
  pending?: boolean;
}

/** What a bank says of one transaction, on a day of March 2024. */
export function row({
  id,
  day = 1,
  amount = -3.5,
  text = 'COFFEE BAR LONDON',
  pending = false,
}: Said = {}): TransactionRow {
  const date = `2024-03-${String(day).padStart(2, '0')}T00:00:00.000Z`;
  const transaction: Transaction = {
    ...(id === undefined ? {} : { id }),
    date,
    bookingDateTime: date,
    status: pending ? 'PENDING' : 'BOOKED',
    transactionAmount: { amount, currency: 'GBP' },
    description: text,
  };
  return rowOf(transaction);
}

/** An account as the BFF keeps it: the reconciler's changes, applied. */
export class Ledger {
  readonly table = new Map<string, LoggedTransaction>();
  private sequence = 0n;
  private made = 0;

  see(rows: TransactionRow[], window: Partial<Answer<TransactionRow>> = {}): Change<TransactionRow>[] {
    const changes = reconcile<TransactionRow>(
      this.known(),
      { rows, from: null, before: null, ...window },
      () => `t${(this.made += 1)}`,
    );
    for (const change of changes) {
      this.sequence += 1n;
      apply(this.table, { accountId: 'a', sequence: this.sequence, recordedAt: new Date(0) }, change);
    }
    return changes;
  }

  get live(): LoggedTransaction[] {
    return [...this.table.values()].filter(({ removedAt }) => removedAt === null);
  }

  known(): KnownTransaction[] {
    return [...this.table.values()]
      .filter(({ removedAt, joinedInto }) => removedAt === null || joinedInto !== null)
      .map(({ id, flag, joinedInto, row: known }) => ({ id, flag, into: joinedInto, ...known }));
  }
}

export const kinds = (changes: Change<TransactionRow>[]): string[] => changes.map(({ kind }) => kind);
