import { AccountIdentificationType } from '../account-identification.dto.js';
import { Amount } from '../amount.dto.js';
import { enumeration } from '../enumeration.js';
import { Choice, Decimal, Nested, Text } from '../field.js';
import { AccountBalanceType } from './balance.dto.js';

export const TransactionStatusEnum = enumeration('BOOKED', 'PENDING');
export type TransactionStatusEnum = keyof typeof TransactionStatusEnum;

export class CurrencyExchange {
  @Text({ optional: true }) sourceCurrency?: string;
  @Text({ optional: true }) targetCurrency?: string;
  @Text({ optional: true }) unitCurrency?: string;
  @Decimal({ optional: true }) exchangeRate?: number;
}

export class TransactionChargeDetails {
  @Nested(() => Amount, { optional: true }) chargeAmount?: Amount;
}

export class StatementReference {
  @Text({ optional: true }) value?: string;
}

export class AddressDetails {
  @Text({ optional: true }) addressLine?: string;
}

export class IsoCodeDetails {
  @Text({ optional: true, default: 'UNKNOWN' }) code?: string;
  @Text({ optional: true, default: 'UNKNOWN' }) name?: string;
}

export class IsoBankTransactionCode {
  @Nested(() => IsoCodeDetails, { optional: true }) domainCode?: IsoCodeDetails;
  @Nested(() => IsoCodeDetails, { optional: true }) familyCode?: IsoCodeDetails;
  @Nested(() => IsoCodeDetails, { optional: true }) subFamilyCode?: IsoCodeDetails;
}

export class ProprietaryBankTransactionCode {
  @Text({ optional: true }) code?: string;
  @Text({ optional: true }) issuer?: string;
}

export class TransactionBalance {
  @Choice(AccountBalanceType, 'AccountBalanceType', { optional: true }) type?: AccountBalanceType;
  @Nested(() => Amount, { optional: true }) balanceAmount?: Amount;
}

export class TransactionPartyIdentification {
  @Choice(AccountIdentificationType, 'AccountIdentificationType', { optional: true }) type?: AccountIdentificationType;
  @Text({ optional: true }) identification?: string;
}

export class TransactionParty {
  @Text({ optional: true }) name?: string;
  @Nested(() => TransactionPartyIdentification, { optional: true, array: true })
  accountIdentifications?: TransactionPartyIdentification[];
}

export class Merchant {
  @Text({ optional: true }) merchantName?: string;
  @Text({ optional: true, pattern: /^\d{4}$/ }) merchantCategoryCode?: string;
}
