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
