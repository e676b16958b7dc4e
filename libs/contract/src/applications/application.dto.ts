import { Transform } from 'class-transformer';
import { IsIn } from 'class-validator';
import { Flag, Integer, Text, Url, Uuid } from '../field.js';
import { merchantCategoryCodes } from './merchant-category.js';

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
  /** Four digits of ISO 18245; an integer is accepted and becomes text. */
  @IsIn(merchantCategoryCodes)
  @Transform(({ value }: { value: unknown }) => asFourDigits(value))
  @Text({
    pattern: /^\d{4}$/,
    description: 'Four digits, a code of ISO 18245; an integer is accepted too.',
    alsoReads: { type: 'integer', enum: merchantCategoryCodes.map(Number) },
  })
  merchantCategoryCode!: string;
  @IsIn(ppcUserGroups) @Text({ description: ppcUserGroups.join(', ') }) ppcUserGroup!: string;
  @Url({ optional: true, array: { max: 100 } }) callbackUrls?: string[];
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
