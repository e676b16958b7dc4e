import { Choice, DateTime, Integer, Nested, Text } from '../field.js';
import { PaymentIsoStatusCodeEnum, PaymentStatus } from './payment-type.dto.js';

export class MultiAuthorisation {
  @Text({ optional: true }) status?: string;
  @Integer({ optional: true, format: 'int32' }) numberOfAuthorisationRequired?: number;
  @Integer({ optional: true, format: 'int32' }) numberOfAuthorisationReceived?: number;
  @DateTime({ optional: true }) lastUpdatedDateTime?: string;
  @DateTime({ optional: true }) expirationDateTime?: string;
}

export class PaymentIsoStatus {
  @Choice(PaymentIsoStatusCodeEnum, 'PaymentIsoStatusCodeEnum', { optional: true }) code?: PaymentIsoStatusCodeEnum;
  @Text({ optional: true }) name?: string;
}

export class PaymentStatusDetails {
  @Choice(PaymentStatus, 'PaymentStatus', { optional: true }) status?: PaymentStatus;
  @Text({ optional: true }) statusReason?: string;
  @Text({ optional: true }) statusReasonDescription?: string;
  @DateTime({ optional: true }) statusUpdateDate?: string;
  @Nested(() => MultiAuthorisation, { optional: true }) multiAuthorisationStatus?: MultiAuthorisation;
  @Nested(() => PaymentIsoStatus, { optional: true }) isoStatus?: PaymentIsoStatus;
}
