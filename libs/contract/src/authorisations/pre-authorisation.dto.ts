import { IsIn } from 'class-validator';
import { AccountIdentification } from '../account-identification.dto.js';
import { Address } from '../address.dto.js';
import { Amount, PositiveAmount } from '../amount.dto.js';
import { AuthorisationRequest, ForwardParameters } from './authorisation-request.dto.js';
import { ConsentRecord } from '../consents/consent.dto.js';
import { enumeration } from '../enumeration.js';
import { Nested, Text } from '../field.js';

/** What the second step will ask for: account information or a payment. The contract leaves the member free text. */
export const PreAuthorisationScope = enumeration('AIS', 'PIS');
export type PreAuthorisationScope = keyof typeof PreAuthorisationScope;

const scopes = Object.values(PreAuthorisationScope);

export class PreAuthorisationRequest extends AuthorisationRequest {
  @ForwardParameters() forwardParameters?: string[];
  @IsIn(scopes, { message: `$property must be one of ${scopes.join(', ')}` })
  @Text({ description: scopes.join(' or ') })
  scope!: PreAuthorisationScope;
}

export class PayeeDetails {
  @Text() name!: string;
  @Nested(() => AccountIdentification, { array: { min: 1, unique: true } })
  accountIdentifications!: AccountIdentification[];
  /** Asked for by the contract, although it calls the member deprecated; `address.country` says the same. */
  @Text({ deprecated: true, pattern: /^[A-Z]{2}$/ }) country!: string;
  @Nested(() => Address, { optional: true }) address?: Address;
}

export class PayerDetails {
  @Nested(() => AccountIdentification, { array: { min: 1, unique: true } })
  accountIdentifications!: AccountIdentification[];
}

export class PaymentPreAuthorisationRequest extends PreAuthorisationRequest {
  @Nested(() => PayeeDetails) payee!: PayeeDetails;
  @Nested(() => PayerDetails) payer!: PayerDetails;
  @PositiveAmount() @Nested(() => Amount) amount!: Amount;
  @Text({ maxLength: 18 }) reference!: string;
}

export class PreAuthorisationResponse extends ConsentRecord {
  @Text({ optional: true }) authorisationUrl?: string;
  @Text({ optional: true }) qrCodeUrl?: string;
}
