import { Amount } from '../amount.dto.js';
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

/** What is told of a transaction, whether from the books or in real time. */
export class TransactionRecord {
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
  @Nested(() => Merchant, { optional: true }) merchant?: Merchant;
  @Json({ optional: true }) supplementaryData?: Record<string, unknown>;
}
