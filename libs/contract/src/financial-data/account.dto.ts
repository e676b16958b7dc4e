import { AccountIdentification } from '../account-identification.dto.js';
import { enumeration } from '../enumeration.js';
import { Choice, Decimal, Nested, Text } from '../field.js';
import { AccountBalance } from './balance.dto.js';

export const UsageType = enumeration('PERSONAL', 'BUSINESS', 'OTHER', 'UNKNOWN');
export type UsageType = keyof typeof UsageType;

export const AccountType = enumeration(
  'CASH_TRADING',
  'CASH_INCOME',
  'CASH_PAYMENT',
  'CHARGE_CARD',
  'CHARGES',
  'COMMISSION',
  'CREDIT_CARD',
  'CURRENT',
  'E_MONEY',
  'LIMITED_LIQUIDITY_SAVINGS_ACCOUNT',
  'LOAN',
  'MARGINAL_LENDING',
  'MONEY_MARKET',
  'MORTGAGE',
  'NON_RESIDENT_EXTERNAL',
  'OTHER',
  'OVERDRAFT',
  'OVERNIGHT_DEPOSIT',
  'PREPAID_CARD',
  'SALARY',
  'SAVINGS',
  'SETTLEMENT',
  'TAX',
  'UNKNOWN',
);
export type AccountType = keyof typeof AccountType;

export class AccountName {
  @Text({ optional: true }) name?: string;
}

export class ConsolidatedAccountInformation {
  @Text({ optional: true }) id?: string;
  @Nested(() => AccountBalance, { optional: true, array: true }) accountBalances?: AccountBalance[];
}

export class Account {
  @Text({ always: true }) id!: string;
  @Text({ optional: true }) type?: string;
  @Text({ optional: true }) description?: string;
  @Decimal({ optional: true }) balance?: number;
  @Text({ optional: true }) currency?: string;
  @Choice(UsageType, 'UsageType', { optional: true }) usageType?: UsageType;
  @Choice(AccountType, 'AccountType', { optional: true }) accountType?: AccountType;
  @Text({ optional: true }) nickname?: string;
  @Text({ optional: true }) details?: string;
  @Nested(() => AccountName, { optional: true, array: true }) accountNames?: AccountName[];
  @Nested(() => AccountIdentification, { optional: true, array: { unique: true } })
  accountIdentifications?: AccountIdentification[];
  @Nested(() => AccountBalance, { optional: true, array: true }) accountBalances?: AccountBalance[];
  @Nested(() => ConsolidatedAccountInformation, { optional: true })
  consolidatedAccountInformation?: ConsolidatedAccountInformation;
}
