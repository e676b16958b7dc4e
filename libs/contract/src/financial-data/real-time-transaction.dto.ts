import { Amount } from '../amount.dto.js';
import { ResponseMetaWithCount } from '../envelope.js';
import { Choice, DateTime, Json, Nested, Text } from '../field.js';
import {
  AddressDetails,
  CurrencyExchange,
  IsoBankTransactionCode,
  Merchant,
  ProprietaryBankTransactionCode,
  StatementReference,
  TransactionBalance,
  TransactionChargeDetails,
  TransactionStatusEnum,
} from './transaction-parts.dto.js';
import { Payee, Payer } from '../payments/payee.dto.js';

export class RealTimeTransaction {
  @Text({ optional: true }) id?: string;
  @DateTime({ optional: true }) date?: string;
  @DateTime({ optional: true }) bookingDateTime?: string;
  @DateTime({ optional: true }) valueDateTime?: string;
  @Choice(TransactionStatusEnum, 'TransactionStatusEnum', { optional: true }) status?: TransactionStatusEnum;
  @Nested(() => Amount, { optional: true }) transactionAmount?: Amount;
  @Nested(() => Amount, { optional: true }) grossAmount?: Amount;
  @Nested(() => CurrencyExchange, { optional: true }) currencyExchange?: CurrencyExchange;
  @Nested(() => TransactionChargeDetails, { optional: true }) chargeDetails?: TransactionChargeDetails;
  @Text({ optional: true }) reference?: string;
  @Nested(() => StatementReference, { optional: true, array: true }) statementReferences?: StatementReference[];
  @Text({ optional: true }) description?: string;
  @Text({ optional: true, array: true }) transactionInformation?: string[];
  @Nested(() => AddressDetails, { optional: true }) addressDetails?: AddressDetails;
  @Nested(() => IsoBankTransactionCode, { optional: true }) isoBankTransactionCode?: IsoBankTransactionCode;
  @Nested(() => ProprietaryBankTransactionCode, { optional: true })
  proprietaryBankTransactionCode?: ProprietaryBankTransactionCode;
  @Nested(() => TransactionBalance, { optional: true }) balance?: TransactionBalance;
  @Nested(() => Payee, { optional: true }) payeeDetails?: Payee;
  @Nested(() => Payer, { optional: true }) payerDetails?: Payer;
  @Nested(() => Merchant, { optional: true }) merchant?: Merchant;
  @Json({ optional: true }) supplementaryData?: Record<string, unknown>;
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
