import { Amount, PositiveAmount } from '../amount.dto.js';
import { Choice, DateTime, Flag, Nested, Text } from '../field.js';
import { InternationalPaymentRequest } from './international-payment.dto.js';
import { Payee, Payer } from './payee.dto.js';
import { PaymentContextType, PaymentType } from './payment-type.dto.js';
import { PeriodicPaymentRequest } from './periodic-payment.dto.js';

export class PaymentRequest {
  @Text({ pattern: /^[A-Za-z0-9_-]{1,35}$/ }) paymentIdempotencyId!: string;
  @Nested(() => Payer, { optional: true }) payer?: Payer;
  @Text({ optional: true, maxLength: 18 }) reference?: string;
  @Choice(PaymentContextType, 'PaymentContextType', { optional: true }) contextType?: PaymentContextType;
  @Text({ optional: true }) purposeCode?: string;
  @Choice(PaymentType, 'PaymentType') type!: PaymentType;
  @Nested(() => Payee) payee!: Payee;
  @Nested(() => PeriodicPaymentRequest, { optional: true }) periodicPayment?: PeriodicPaymentRequest;
  @Nested(() => InternationalPaymentRequest, { optional: true }) internationalPayment?: InternationalPaymentRequest;
  @PositiveAmount() @Nested(() => Amount) amount!: Amount;
  @DateTime({ optional: true }) paymentDateTime?: string;
  @Flag({ optional: true }) readRefundAccount?: boolean;
}
