import { Amount } from '../amount.dto.js';
import { DateTime, Nested, Text } from '../field.js';
import { PaymentStatusDetails } from '../payments/payment-status.dto.js';

export class DirectDebitPayee {
  @Text({ optional: true }) name?: string;
}

export class DirectDebitResponse {
  @Text({ optional: true }) id?: string;
  @Nested(() => PaymentStatusDetails, { optional: true }) statusDetails?: PaymentStatusDetails;
  @Nested(() => DirectDebitPayee, { optional: true }) payeeDetails?: DirectDebitPayee;
  @Text({ optional: true }) reference?: string;
  @Nested(() => Amount, { optional: true }) previousPaymentAmount?: Amount;
  @DateTime({ optional: true }) previousPaymentDateTime?: string;
}
