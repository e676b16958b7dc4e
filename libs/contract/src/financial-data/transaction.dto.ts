import { Decimal, Nested, Text } from '../field.js';
import { Enrichment } from './enrichment.dto.js';
import { TransactionParty } from './transaction-parts.dto.js';
import { TransactionRecord } from './transaction-record.dto.js';

export class Transaction extends TransactionRecord {
  @Decimal({ optional: true }) amount?: number;
  @Text({ optional: true }) currency?: string;
  @Nested(() => TransactionParty, { optional: true }) payeeDetails?: TransactionParty;
  @Nested(() => TransactionParty, { optional: true }) payerDetails?: TransactionParty;
  @Nested(() => Enrichment, { optional: true }) enrichment?: Enrichment;
  @Text({ optional: true }) transactionMutability?: string;
}
