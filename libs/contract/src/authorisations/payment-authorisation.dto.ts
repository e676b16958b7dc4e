import { AuthorisationRequest, ForwardParameters } from './authorisation-request.dto.js';
import { ConsentRecord } from '../consents/consent.dto.js';
import { Nested, Text } from '../field.js';
import { ExchangeRateInformationResponse } from '../payments/international-payment.dto.js';
import { PaymentRequest } from '../payments/payment-request.dto.js';
import { PaymentChargeDetails } from '../payments/payment-response.dto.js';

export class PaymentAuthorisationRequest extends AuthorisationRequest {
  @ForwardParameters() forwardParameters?: string[];
  @Nested(() => PaymentRequest) paymentRequest!: PaymentRequest;
}

export class PaymentAuthorisationRequestResponse extends ConsentRecord {
  @Nested(() => PaymentChargeDetails, { optional: true, array: true }) charges?: PaymentChargeDetails[];
  @Nested(() => ExchangeRateInformationResponse, { optional: true })
  exchangeRateInformation?: ExchangeRateInformationResponse;
  @Text({ optional: true }) authorisationUrl?: string;
  @Text({ optional: true }) qrCodeUrl?: string;
  @Text({ optional: true }) explanation?: string;
}
