import { IsIn } from 'class-validator';
import { Amount } from '../amount.dto.js';
import { enumeration } from '../enumeration.js';
import { Choice, Integer, Nested, Text } from '../field.js';

export const FrequencyEnum = enumeration('MONTHLY');
export type FrequencyEnum = keyof typeof FrequencyEnum;

export const AlignmentEnum = enumeration('CONSENT', 'CALENDAR');
export type AlignmentEnum = keyof typeof AlignmentEnum;

/** The contract leaves the member free text, the service does not. */
const recurringPaymentCategories = ['ONGOING', 'SUBSCRIPTION'] as const;

export class VrpPeriodicLimit {
  @Nested(() => Amount) maximumAmount!: Amount;
  @Choice(FrequencyEnum, 'FrequencyEnum') frequency!: FrequencyEnum;
  @Choice(AlignmentEnum, 'AlignmentEnum') alignment!: AlignmentEnum;
}

export class VrpConfiguration {
  @Nested(() => Amount, { optional: true }) maximumIndividualAmount?: Amount;
  @Nested(() => Amount, { optional: true }) maximumCumulativeAmount?: Amount;
  @Integer({ optional: true, min: 0 }) maximumCumulativeNumberOfPayments?: number;
  @Nested(() => VrpPeriodicLimit, { optional: true, array: { min: 1 } }) periodicLimits?: VrpPeriodicLimit[];
  @IsIn(recurringPaymentCategories)
  @Text({ optional: true, description: recurringPaymentCategories.join(', ') })
  recurringPaymentCategory?: string;
}
