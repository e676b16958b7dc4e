import { DateTime, Text } from '../field.js';

export class ConsentAuthCodeRequest {
  @Text() authCode!: string;
  @Text() authState!: string;
}

export class OneTimeTokenRequest {
  @Text() oneTimeToken!: string;
}

export class ExtendConsentRequest {
  @DateTime() lastConfirmedAt!: string;
}
