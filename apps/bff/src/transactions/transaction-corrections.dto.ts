import { Nested, Uuid } from '#libs/contract';
import { TransactionView } from './transaction.dto.js';

export class JoinTransaction {
  @Uuid({ description: 'The transaction of the same account that is the same in truth; it is removed.' })
  transactionId!: string;
}

export class SplitTransactions {
  @Nested(() => TransactionView, {
    array: true,
    description: 'The transaction, and the one that has been parted from it.',
  })
  data!: TransactionView[];
}
