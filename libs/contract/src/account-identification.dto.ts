import { enumeration } from './enumeration.js';
import { Choice, Text } from './field.js';

export const AccountIdentificationType = enumeration(
  'SORT_CODE',
  'ACCOUNT_NUMBER',
  'IBAN',
  'BBAN',
  'BIC',
  'PAN',
  'MASKED_PAN',
  'MSISDN',
  'BSB',
  'NCC',
  'ABA',
  'ABA_WIRE',
  'ABA_ACH',
  'EMAIL',
  'ROLL_NUMBER',
  'BLZ',
  'IFS',
  'CLABE',
  'CTN',
  'BRANCH_CODE',
  'VIRTUAL_ACCOUNT_ID',
);
export type AccountIdentificationType = keyof typeof AccountIdentificationType;

export class AccountIdentification {
  @Choice(AccountIdentificationType, 'AccountIdentificationType') type!: AccountIdentificationType;
  @Text() identification!: string;
}
