import { OmitType } from '@nestjs/swagger';
import {
  Choice,
  DateTime,
  Decimal,
  Flag,
  Integer,
  Nested,
  Text,
  Transaction,
  TransactionStatusEnum,
  Uuid,
} from '#libs/contract';

export const listSizeMax = 500;
export const listSize = 100;

/** What transactions may be chosen by; several filters hold together. */
export class TransactionFilter {
  @DateTime({ optional: true, description: 'On or after this instant.', example: '2026-01-01T00:00:00.000Z' })
  from?: string;
  @DateTime({ optional: true, description: 'On or before this instant.', example: '2026-12-31T23:59:59.999Z' })
  before?: string;
  @Decimal({ query: true, optional: true, description: 'At least this amount; money out is negative.', example: -50 })
  amountMin?: number;
  @Decimal({ query: true, optional: true, description: 'At most this amount.', example: -0.01 }) amountMax?: number;
  @Text({
    optional: true,
    maxLength: 100,
    description: 'A part of the description or of the reference, in small or capital letters.',
    example: 'coffee',
  })
  text?: string;
  @Choice(TransactionStatusEnum, 'TransactionStatusEnum', { optional: true }) status?: TransactionStatusEnum;
  @Text({
    optional: true,
    maxLength: 100,
    description:
      'A merchant category code (ISO 18245), or a code of `isoBankTransactionCode` or `proprietaryBankTransactionCode`.',
    example: '5411',
  })
  category?: string;
  @Flag({ query: true, optional: true, description: 'Whether something about it is not sure.' }) flagged?: boolean;
}

export class TransactionQuery extends TransactionFilter {
  @Integer({ query: true, optional: true, min: 1, max: listSizeMax, default: listSize }) limit?: number;
  @Text({
    optional: true,
    maxLength: 200,
    description: '`nextCursor` of the page before, with the same filters.',
  })
  cursor?: string;
}

export const ExportFormat = { csv: 'csv', ndjson: 'ndjson' } as const;
export type ExportFormat = (typeof ExportFormat)[keyof typeof ExportFormat];

export class ExportQuery extends TransactionFilter {
  @Choice(ExportFormat, 'ExportFormat', { optional: true, default: ExportFormat.csv }) format?: ExportFormat;
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
