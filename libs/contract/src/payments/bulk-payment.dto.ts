import { Choice, DateTime, Nested, Text } from '../field.js';
import { PaymentRequest } from './payment-request.dto.js';
import { PaymentRecord } from './payment-response.dto.js';
import { MultiAuthorisation } from './payment-status.dto.js';
import { PaymentStatus } from './payment-type.dto.js';

export class BulkPaymentRequest {
  @Nested(() => PaymentRequest, { array: true }) payments!: PaymentRequest[];
  @Text({ optional: true }) originatorIdentificationNumber?: string;
  @DateTime({ optional: true }) executionDateTime?: string;
}

export class SubmitBulkPaymentRequest {
  @Text({ optional: true, pattern: /^\S{1,40}$/ }) idempotencyId?: string;
  @Nested(() => PaymentRequest, { array: true }) payments!: PaymentRequest[];
  @Text({ optional: true }) originatorIdentificationNumber?: string;
  @DateTime({ optional: true }) executionDateTime?: string;
}

export class BulkPaymentIsoStatus {
  @Text({ optional: true }) code?: string;
  @Text({ optional: true }) name?: string;
}

export class BulkPaymentStatusDetails {
  @Choice(PaymentStatus, 'PaymentStatus', { optional: true }) status?: PaymentStatus;
  @Text({ optional: true }) statusReason?: string;
  @Text({ optional: true }) statusReasonDescription?: string;
  @DateTime({ optional: true }) statusUpdateDate?: string;
  @Nested(() => MultiAuthorisation, { optional: true }) multiAuthorisationStatus?: MultiAuthorisation;
  @Nested(() => BulkPaymentIsoStatus, { optional: true }) isoStatus?: BulkPaymentIsoStatus;
}

export class BulkPaymentResponse extends PaymentRecord {
  @Text({ optional: true }) institutionInteractionId?: string;
  @Text({ optional: true }) paymentScheme?: string;
  @Nested(() => BulkPaymentStatusDetails, { optional: true }) statusDetails?: BulkPaymentStatusDetails;
}

export class BulkPaymentIndividualStatusDetails {
  @Text() code!: string;
  @Text({ optional: true }) reason?: string;
}

export class BulkPaymentIndividualStatus {
  @Text() id!: string;
  @Choice(PaymentStatus, 'PaymentStatus') status!: PaymentStatus;
  @Nested(() => BulkPaymentIndividualStatusDetails, { optional: true })
  statusDetails?: BulkPaymentIndividualStatusDetails;
}

export class BulkPaymentDetails {
  @Text({ optional: true }) id?: string;
  @Text({ optional: true }) consentId?: string;
  @Nested(() => BulkPaymentIndividualStatus, { optional: true, array: true }) payments?: BulkPaymentIndividualStatus[];
}
