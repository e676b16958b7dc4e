import { Transform } from 'class-transformer';
import { IsIn } from 'class-validator';
import { Flag, Integer, Text, Url, Uuid } from '../field.js';

/** The groups of merchants that purpose codes are chosen for. The contract leaves the member free text, the service does not. */
export const ppcUserGroups = [
  'WHOLESALE_FI_FI',
  'COMMERCIAL',
  'CONSUMER_GOODS_SERVICES',
  'FINANCE',
  'INSURANCE',
  'PROPERTY',
  'UTILITIES',
  'TAX',
  'SALARIES_INCOMES',
  'INVESTMENTS',
  'FOREIGN_EXCHANGE',
  'GOVERNMENT',
  'BENEFIT_PAYMENTS',
  'MEDICAL',
  'PENSIONS',
] as const;

const namePattern = /^[a-zA-Z0-9 \-_[\]()]+$/;

/** The number form of a merchant category code loses its leading zeros; the text form has four digits. */
function asFourDigits(value: unknown): unknown {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? String(value).padStart(4, '0') : value;
}

export class ApplicationRequest {
  @Text({ pattern: namePattern, maxLength: 255 }) name!: string;
  /** Four digits; an integer is accepted and becomes text. */
  @Transform(({ value }: { value: unknown }) => asFourDigits(value))
  @Text({
    pattern: /^\d{4}$/,
    description: 'Four digits; an integer is accepted too.',
    alsoReads: { type: 'integer', minimum: 0, maximum: 9999 },
  })
  merchantCategoryCode!: string;
  @IsIn(ppcUserGroups) @Text({ description: ppcUserGroups.join(', ') }) ppcUserGroup!: string;
  @Url({ optional: true, array: true }) callbackUrls?: string[];
  @Flag() isContractPresent!: boolean;
}

export class ApplicationResponse {
  @Uuid({ always: true }) id!: string;
  @Uuid({ optional: true, description: 'Absent on a root application.' }) rootApplicationId?: string;
  @Text({ always: true, pattern: namePattern }) name!: string;
  @Integer({ optional: true }) merchantCategoryCode?: number;
  @Text({ optional: true }) ppcUserGroup?: string;
  @Text({ optional: true, array: true }) callbackUrls?: string[];
  @Flag({ optional: true }) isContractPresent?: boolean;
}
