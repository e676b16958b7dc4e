import { Amount } from '../amount.dto.js';
import { Choice, DateTime, Decimal, Integer, Nested, Text } from '../field.js';
import { ExchangeRateInformationResponse } from './international-payment.dto.js';
import { Payee, Payer, RefundAccount } from './payee.dto.js';
import { PaymentStatusDetails } from './payment-status.dto.js';
import { PaymentStatus, PriorityCodeEnum } from './payment-type.dto.js';
import { FrequencyResponse } from './periodic-payment.dto.js';

export class PaymentChargeDetails {
  @Nested(() => Amount, { optional: true }) chargeAmount?: Amount;
  @Text({ optional: true }) chargeType?: string;
  @Text({ optional: true }) chargeTo?: string;
}

/** What every payment answer shows; single and bulk payments differ in `statusDetails`. */
export class PaymentRecord {
  @Text({ always: true }) id!: string;
  @Text({ optional: true }) institutionConsentId?: string;
  @Text({ optional: true }) paymentIdempotencyId?: string;
  @Text({ optional: true }) paymentLifecycleId?: string;
  @Choice(PaymentStatus, 'PaymentStatus', { always: true }) status!: PaymentStatus;
  @Nested(() => Payer, { optional: true }) payer?: Payer;
  @Nested(() => Payee, { optional: true }) payeeDetails?: Payee;
  @Text({ optional: true }) reference?: string;
  @Decimal({ optional: true }) amount?: number;
  @Text({ optional: true }) currency?: string;
  @Nested(() => Amount, { optional: true }) amountDetails?: Amount;
  @DateTime({ optional: true }) createdAt?: string;
  @Nested(() => Amount, { optional: true }) firstPaymentAmount?: Amount;
  @DateTime({ optional: true }) firstPaymentDateTime?: string;
  @Nested(() => Amount, { optional: true }) nextPaymentAmount?: Amount;
  @DateTime({ optional: true }) nextPaymentDateTime?: string;
  @Nested(() => Amount, { optional: true }) finalPaymentAmount?: Amount;
  @DateTime({ optional: true }) finalPaymentDateTime?: string;
  @Integer({ optional: true, format: 'int32' }) numberOfPayments?: number;
  @Nested(() => Amount, { optional: true }) previousPaymentAmount?: Amount;
  @DateTime({ optional: true }) previousPaymentDateTime?: string;
  @Nested(() => PaymentChargeDetails, { optional: true, array: true }) chargeDetails?: PaymentChargeDetails[];
  @Text({ optional: true }) scheduledPaymentType?: string;
  @DateTime({ optional: true }) scheduledPaymentDateTime?: string;
  @Nested(() => FrequencyResponse, { optional: true }) frequency?: FrequencyResponse;
  @Text({ optional: true }) currencyOfTransfer?: string;
  @Text({ optional: true }) purpose?: string;
  @Choice(PriorityCodeEnum, 'PriorityCodeEnum', { optional: true }) priority?: PriorityCodeEnum;
  @Nested(() => ExchangeRateInformationResponse, { optional: true }) exchangeRate?: ExchangeRateInformationResponse;
  @Nested(() => RefundAccount, { optional: true }) refundAccount?: RefundAccount;
  @Decimal({ optional: true }) bulkAmountSum?: number;
}

export class PaymentResponse extends PaymentRecord {
  @Nested(() => PaymentStatusDetails, { optional: true }) statusDetails?: PaymentStatusDetails;
}

export class PaymentResponses {
  @Nested(() => PaymentResponse, { always: true, array: true }) payments!: PaymentResponse[];
}
