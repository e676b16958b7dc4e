import { ResponseMetaWithCount } from '../envelope.js';
import { Nested, Text } from '../field.js';
import { Payee, Payer } from '../payments/payee.dto.js';
import { TransactionRecord } from './transaction-record.dto.js';

export class RealTimeTransaction extends TransactionRecord {
  @Nested(() => Payee, { optional: true }) payeeDetails?: Payee;
  @Nested(() => Payer, { optional: true }) payerDetails?: Payer;
}

/** Opaque cursors of the neighbouring pages: a page has only those that exist (interface, part 4.2.1). */
export class CursorLinks {
  @Text({ optional: true }) first?: string;
  @Text({ optional: true }) prev?: string;
  @Text({ optional: true }) self?: string;
  @Text({ optional: true }) next?: string;
  @Text({ optional: true }) last?: string;
}

/** A page of real-time transactions. It has no `pagination`: how many there are in all is not known. */
export class ApiListResponseOfRealTimeTransaction {
  @Nested(() => ResponseMetaWithCount, { always: true }) meta!: ResponseMetaWithCount;
  @Nested(() => RealTimeTransaction, { always: true, array: true }) data!: RealTimeTransaction[];
  @Nested(() => CursorLinks, { always: true }) links!: CursorLinks;
}
