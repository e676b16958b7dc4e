import { Amount } from '../amount.dto.js';
import { Choice, DateTime, Decimal, Json, Nested, Text } from '../field.js';
import { Enrichment } from './enrichment.dto.js';
import {
  AddressDetails,
  CurrencyExchange,
  IsoBankTransactionCode,
  Merchant,
  ProprietaryBankTransactionCode,
  StatementReference,
  TransactionBalance,
  TransactionChargeDetails,
  TransactionParty,
  TransactionStatusEnum,
} from './transaction-parts.dto.js';

export class Transaction {
  @Text({ optional: true }) id?: string;
  @DateTime({ optional: true }) date?: string;
  @DateTime({ optional: true }) bookingDateTime?: string;
  @DateTime({ optional: true }) valueDateTime?: string;
  @Choice(TransactionStatusEnum, 'TransactionStatusEnum', { optional: true }) status?: TransactionStatusEnum;
  @Decimal({ optional: true }) amount?: number;
  @Text({ optional: true }) currency?: string;
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
  @Nested(() => TransactionParty, { optional: true }) payeeDetails?: TransactionParty;
  @Nested(() => TransactionParty, { optional: true }) payerDetails?: TransactionParty;
  @Nested(() => Merchant, { optional: true }) merchant?: Merchant;
  @Nested(() => Enrichment, { optional: true }) enrichment?: Enrichment;
  @Json({ optional: true }) supplementaryData?: Record<string, unknown>;
  @Text({ optional: true }) transactionMutability?: string;
}
