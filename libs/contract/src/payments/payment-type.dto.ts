import { enumeration } from '../enumeration.js';

export const PaymentType = enumeration(
  'DOMESTIC_PAYMENT',
  'DOMESTIC_INSTANT_PAYMENT',
  'DOMESTIC_VARIABLE_RECURRING_PAYMENT',
  'DOMESTIC_SCHEDULED_PAYMENT',
  'DOMESTIC_PERIODIC_PAYMENT',
  'INTERNATIONAL_PAYMENT',
  'INTERNATIONAL_SCHEDULED_PAYMENT',
  'INTERNATIONAL_PERIODIC_PAYMENT',
  'BULK_PAYMENT',
);
export type PaymentType = keyof typeof PaymentType;

export const PaymentStatus = enumeration(
  'PENDING',
  'FAILED',
  'DECLINED',
  'COMPLETED',
  'COMPLETED_SETTLEMENT_IN_PROCESS',
  'EXPIRED',
  'UNKNOWN',
  'ACTIVE',
  'INACTIVE',
);
export type PaymentStatus = keyof typeof PaymentStatus;

export const PaymentContextType = enumeration(
  'BILL',
  'GOODS',
  'SERVICES',
  'OTHER',
  'PERSON_TO_PERSON',
  'BILL_IN_ADVANCE',
  'BILL_IN_ARREARS',
  'ECOMMERCE_MERCHANT',
  'FACE_TO_FACE_POS',
  'TRANSFER_TO_SELF',
  'TRANSFER_TO_THIRD_PARTY',
  'PISP_PAYEE',
);
export type PaymentContextType = keyof typeof PaymentContextType;

export const PaymentIsoStatusCodeEnum = enumeration(
  'ACCC',
  'ACCP',
  'ACSC',
  'ACSP',
  'ACTC',
  'ACWC',
  'ACWP',
  'RCVD',
  'PDNG',
  'RJCT',
  'CANC',
  'ACFC',
  'PATC',
  'PART',
  'ACCO',
);
export type PaymentIsoStatusCodeEnum = keyof typeof PaymentIsoStatusCodeEnum;

export const FrequencyEnumExtended = enumeration(
  'DAILY',
  'EVERY_WORKING_DAY',
  'CALENDAR_DAY',
  'WEEKLY',
  'EVERY_TWO_WEEKS',
  'MONTHLY',
  'EVERY_TWO_MONTHS',
  'QUARTERLY',
  'SEMIANNUAL',
  'ANNUAL',
);
export type FrequencyEnumExtended = keyof typeof FrequencyEnumExtended;

export const PriorityCodeEnum = enumeration('NORMAL', 'URGENT');
export type PriorityCodeEnum = keyof typeof PriorityCodeEnum;

export const ChargeBearerType = enumeration('DEBT', 'CRED', 'SHAR', 'SLEV');
export type ChargeBearerType = keyof typeof ChargeBearerType;

export const RateTypeEnum = enumeration('ACTUAL', 'AGREED', 'INDICATIVE');
export type RateTypeEnum = keyof typeof RateTypeEnum;
