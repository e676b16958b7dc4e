import { OmitType } from '@nestjs/swagger';
import {
  Choice,
  DateTime,
  Flag,
  Integer,
  Nested,
  Text,
  Transaction,
  TransactionStatusEnum,
  Uuid,
} from '#libs/contract';

export const listSizeMax = 500;

export class TransactionQuery {
  @Integer({ query: true, optional: true, min: 1, max: listSizeMax, default: 100 }) limit?: number;
  @Text({ optional: true, maxLength: 200, description: '`nextCursor` of the page before.' }) cursor?: string;
  @DateTime({ optional: true, description: 'On or after this instant.' }) from?: string;
  @DateTime({ optional: true, description: 'On or before this instant.' }) before?: string;
  @Choice(TransactionStatusEnum, 'TransactionStatusEnum', { optional: true }) status?: TransactionStatusEnum;
}

/** The interface's transaction under our own id, which stays the same from pending to booked. */
export class TransactionView extends OmitType(Transaction, ['id'] as const) {
  @Uuid() id!: string;
  @Uuid() accountId!: string;
  @Text({ optional: true, description: "The bank's own id: a clue, not a key." }) institutionTransactionId?: string;
}

export class TransactionPage {
  @Nested(() => TransactionView, { array: true }) data!: TransactionView[];
  @Flag() hasMore!: boolean;
  @Text({ optional: true, description: 'Present when there is more.' }) nextCursor?: string;
}

export class ChangesQuery {
  @Integer({ query: true, optional: true, min: 1, max: listSizeMax, default: listSizeMax }) limit?: number;
  @Text({
    optional: true,
    maxLength: 200,
    description: '`nextCursor` of the answer before; none to start with everything.',
  })
  cursor?: string;
}

export class RemovedTransaction {
  @Uuid() id!: string;
  @Uuid() accountId!: string;
}

export class TransactionChanges {
  @Nested(() => TransactionView, { array: true }) added!: TransactionView[];
  @Nested(() => TransactionView, { array: true }) modified!: TransactionView[];
  @Nested(() => RemovedTransaction, { array: true }) removed!: RemovedTransaction[];
  @Text({ description: 'Always present: keep it for the next call.' }) nextCursor!: string;
  @Flag() hasMore!: boolean;
}
