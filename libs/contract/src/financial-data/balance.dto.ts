import { Amount } from '../amount.dto.js';
import { enumeration } from '../enumeration.js';
import { Choice, DateTime, Flag, Nested } from '../field.js';

export const AccountBalanceType = enumeration(
  'CLOSING_AVAILABLE',
  'CLOSING_BOOKED',
  'CLOSING_CLEARED',
  'EXPECTED',
  'FORWARD_AVAILABLE',
  'INFORMATION',
  'INTERIM_AVAILABLE',
  'INTERIM_BOOKED',
  'INTERIM_CLEARED',
  'OPENING_AVAILABLE',
  'OPENING_BOOKED',
  'OPENING_CLEARED',
  'PREVIOUSLY_CLOSED_BOOKED',
  'AUTHORISED',
  'OTHER',
  'UNKNOWN',
);
export type AccountBalanceType = keyof typeof AccountBalanceType;

export const CreditLineType = enumeration(
  'AVAILABLE',
  'CREDIT',
  'EMERGENCY',
  'PRE_AGREED',
  'TEMPORARY',
  'OTHER',
  'UNKNOWN',
);
export type CreditLineType = keyof typeof CreditLineType;

export class CreditLine {
  @Choice(CreditLineType, 'CreditLineType', { optional: true }) type?: CreditLineType;
  @Nested(() => Amount, { optional: true }) creditLineAmount?: Amount;
}

export class AccountBalance {
  @Choice(AccountBalanceType, 'AccountBalanceType', { optional: true }) type?: AccountBalanceType;
  @DateTime({ optional: true }) dateTime?: string;
  @Nested(() => Amount, { optional: true }) balanceAmount?: Amount;
  @Flag({ optional: true }) creditLineIncluded?: boolean;
  @Nested(() => CreditLine, { optional: true, array: true }) creditLines?: CreditLine[];
}

export class Balances {
  @Nested(() => Amount, { optional: true }) mainBalanceAmount?: Amount;
  @Nested(() => AccountBalance, { always: true, array: true }) balances!: AccountBalance[];
}
