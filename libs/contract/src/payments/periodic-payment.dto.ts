import { Amount } from '../amount.dto.js';
import { Choice, DateTime, Integer, Nested } from '../field.js';
import { FrequencyEnumExtended } from './payment-type.dto.js';

export class FrequencyRequest {
  @Choice(FrequencyEnumExtended, 'FrequencyEnumExtended') type!: FrequencyEnumExtended;
  @Integer({ optional: true, format: 'int32' }) intervalWeek?: number;
  @Integer({ optional: true, format: 'int32' }) intervalMonth?: number;
  @Integer({ optional: true, format: 'int32' }) executionDay?: number;
}

export class FrequencyResponse {
  @Choice(FrequencyEnumExtended, 'FrequencyEnumExtended', { optional: true }) frequencyType?: FrequencyEnumExtended;
  @Integer({ optional: true, format: 'int32' }) intervalWeek?: number;
  @Integer({ optional: true, format: 'int32' }) intervalMonth?: number;
  @Integer({ optional: true, format: 'int32' }) executionDay?: number;
}

export class PeriodicPaymentRequest {
  @Nested(() => FrequencyRequest) frequency!: FrequencyRequest;
  @Integer({ optional: true, format: 'int32' }) numberOfPayments?: number;
  @DateTime({ optional: true }) nextPaymentDateTime?: string;
  @Nested(() => Amount, { optional: true }) nextPaymentAmount?: Amount;
  @DateTime({ optional: true }) finalPaymentDateTime?: string;
  @Nested(() => Amount, { optional: true }) finalPaymentAmount?: Amount;
}
