import { AccountRequest } from './account-authorisation.dto.js';
import { AuthorisationRequest, ForwardParameters } from './authorisation-request.dto.js';
import { ScaMethod, UserCredentials } from './sca-method.dto.js';
import { ConsentRecord } from '../consents/consent.dto.js';
import { Nested, Text } from '../field.js';

export class EmbeddedAccountAuthorisationRequest extends AuthorisationRequest {
  @ForwardParameters() forwardParameters?: string[];
  @Nested(() => UserCredentials, { optional: true }) userCredentials?: UserCredentials;
  @Nested(() => ScaMethod, { optional: true }) selectedScaMethod?: ScaMethod;
  @Text({ optional: true }) scaCode?: string;
  @Nested(() => AccountRequest, { optional: true }) accountRequest?: AccountRequest;
}

export class EmbeddedAccountAuthorisationResponse extends ConsentRecord {
  @Text({ optional: true }) authorisationUrl?: string;
  @Text({ optional: true }) qrCodeUrl?: string;
  @Nested(() => ScaMethod, { optional: true, array: true }) scaMethods?: ScaMethod[];
  @Nested(() => ScaMethod, { optional: true }) selectedScaMethod?: ScaMethod;
}
