import type { Transaction } from '#libs/contract';
import type { Change } from './change.js';
import { apply, type LoggedTransaction } from './change-log.js';
import { addEvidence, type Evidence, type IdentityPolicy, noEvidence } from './identity-policy.js';
import { reconcile, unknownPolicy, type Answer, type KnownTransaction } from './reconcile.js';
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
  private readonly ids = new Map<TransactionRow, string>();
  evidence: Evidence = noEvidence;
  /** What is believed of the bank; nothing unless told. */
  policy: IdentityPolicy = unknownPolicy;

  see(rows: TransactionRow[], window: Partial<Answer<TransactionRow>> = {}): Change<TransactionRow>[] {
    const { changes, evidence } = reconcile<TransactionRow>(
      this.known(),
      { rows, from: null, before: null, ...window },
      { newId: this.newId, policy: this.policy, dropped: this.dropped() },
    );
    this.evidence = addEvidence(this.evidence, evidence);
    for (const change of changes) this.tell(change);
    return changes;
  }

  /** One change, of the reconciler or of a person. */
  tell(change: Change<TransactionRow>): void {
    this.sequence += 1n;
    apply(this.table, { accountId: 'a', sequence: this.sequence, recordedAt: new Date(0) }, change);
  }

  private readonly newId = (of: TransactionRow): string => {
    const id = this.ids.get(of) ?? `t${(this.made += 1)}`;
    this.ids.set(of, id);
    return id;
  };

  get live(): LoggedTransaction[] {
    return [...this.table.values()].filter(({ removedAt }) => removedAt === null);
  }

  known(): KnownTransaction[] {
    return this.those(({ removedAt, joinedInto }) => removedAt === null || joinedInto !== null);
  }

  /** Pending transactions that were removed. */
  private dropped(): KnownTransaction[] {
    return this.those((each) => each.removedAt !== null && each.joinedInto === null && each.row.status === 'PENDING');
  }

  private those(which: (each: LoggedTransaction) => boolean): KnownTransaction[] {
    return [...this.table.values()]
      .filter(which)
      .map(({ row: known, joinedInto, ...rest }) => ({ ...known, ...rest, into: joinedInto }));
  }
}

export const kinds = (changes: Change<TransactionRow>[]): string[] => changes.map(({ kind }) => kind);
