import { Choice, DateTime, Nested, Uuid } from '#libs/contract';
import type { Flag } from '../sync/change.js';
import { TransactionView } from './transaction.dto.js';

export const FlagReason = {
  bookedVanished: 'booked-vanished',
  uncertainLink: 'uncertain-link',
} as const satisfies Record<string, Flag['reason']>;
export type FlagReason = (typeof FlagReason)[keyof typeof FlagReason];

/** What a transaction in doubt may be. */
export class FlagCandidate {
  @Nested(() => TransactionView) transaction!: TransactionView;
  @DateTime({
    optional: true,
    description: 'Since when the bank shows it no more. It can still be joined: the one in doubt is what became of it.',
  })
  removedAt?: string;
}

/** What is not sure about a transaction. */
export class TransactionFlag {
  @Choice(FlagReason, 'FlagReason', {
    example: 'uncertain-link',
    description:
      '`booked-vanished`: the bank no longer shows it although its answer covers that time; it is kept. `uncertain-link`: it ' +
      'may be the same as one of the candidates, or what became of it.',
  })
  reason!: FlagReason;
  @Nested(() => FlagCandidate, { array: true, description: 'Join it with one of them, or dismiss the flag.' })
  candidates!: FlagCandidate[];
}

export class JoinTransaction {
  @Uuid({
    description:
      'The transaction of the same account that is the same in truth; it is removed, or was a pending one and is gone already.',
  })
  transactionId!: string;
}

export class SplitTransactions {
  @Nested(() => TransactionView, {
    array: true,
    description: 'The transaction, and the one that has been parted from it.',
  })
  data!: TransactionView[];
}
