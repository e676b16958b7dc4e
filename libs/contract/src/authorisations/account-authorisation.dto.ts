import { AccountIdentification } from '../account-identification.dto.js';
import { AuthorisationRequest, ForwardParameters } from './authorisation-request.dto.js';
import { ConsentRecord } from '../consents/consent.dto.js';
import { Feature } from '../feature.js';
import { Choice, DateTime, Nested, Text } from '../field.js';

export class AccountInfo {
  @Text({ optional: true }) accountId?: string;
  @Nested(() => AccountIdentification) accountIdentification!: AccountIdentification;
}

export class AccountRequest {
  @DateTime({ optional: true }) transactionFrom?: string;
  @DateTime({ optional: true }) transactionTo?: string;
  @DateTime({ optional: true }) expiresAt?: string;
  @Nested(() => AccountInfo, { optional: true }) accountIdentifiers?: AccountInfo;
  @Nested(() => AccountInfo, { optional: true, array: true }) accountIdentifiersForTransaction?: AccountInfo[];
  @Nested(() => AccountInfo, { optional: true, array: true }) accountIdentifiersForBalance?: AccountInfo[];
  @Choice(Feature, 'FeatureEnum', { optional: true, array: { unique: true } }) featureScope?: Feature[];
}

export class AccountAuthorisationRequest extends AuthorisationRequest {
  @ForwardParameters() forwardParameters?: string[];
  @Nested(() => AccountRequest, { optional: true }) accountRequest?: AccountRequest;
}

export class AccountAuthorisationResponse extends ConsentRecord {
  @DateTime({ optional: true }) lastConfirmedAt?: string;
  @DateTime({ optional: true }) reconfirmBy?: string;
  @Text({ optional: true }) authorisationUrl?: string;
  @Text({ optional: true }) qrCodeUrl?: string;
}
