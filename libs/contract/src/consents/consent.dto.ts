import { enumeration } from '../enumeration.js';
import { Feature } from '../feature.js';
import { Choice, DateTime, Flag, Integer, Text, Uuid } from '../field.js';

export const AuthorisationStatus = enumeration(
  'AWAITING_AUTHORIZATION',
  'AWAITING_FURTHER_AUTHORIZATION',
  'AWAITING_RE_AUTHORIZATION',
  'AUTHORIZED',
  'CONSUMED',
  'REJECTED',
  'REVOKED',
  'FAILED',
  'EXPIRED',
  'UNKNOWN',
  'INVALID',
  'AWAITING_DECOUPLED_PRE_AUTHORIZATION',
  'AWAITING_PRE_AUTHORIZATION',
  'PRE_AUTHORIZED',
  'AWAITING_DECOUPLED_AUTHORIZATION',
  'AWAITING_SCA_METHOD',
  'AWAITING_SCA_CODE',
);
export type AuthorisationStatus = keyof typeof AuthorisationStatus;

export const DeleteStatusEnum = enumeration('SUCCESS', 'FAILED');
export type DeleteStatusEnum = keyof typeof DeleteStatusEnum;

/** The members that consents and authorisation answers have in common. */
export class ConsentRecord {
  @Uuid({ always: true }) id!: string;
  @Uuid({ always: true }) userUuid!: string;
  @Text({ optional: true }) applicationUserId?: string;
  @Text({ optional: true }) referenceId?: string;
  @Text({ always: true }) institutionId!: string;
  @Choice(AuthorisationStatus, 'AuthorisationStatus', { always: true }) status!: AuthorisationStatus;
  @DateTime({ always: true }) createdAt!: string;
  @DateTime({ optional: true }) transactionFrom?: string;
  @DateTime({ optional: true }) transactionTo?: string;
  @DateTime({ optional: true }) expiresAt?: string;
  @Integer({ optional: true, deprecated: true, format: 'int64' }) timeToExpireInMillis?: number;
  @Text({ optional: true, format: 'iso8601' }) timeToExpire?: string;
  @Choice(Feature, 'FeatureEnum', { optional: true, array: { unique: true } }) featureScope?: Feature[];
  @Text({ optional: true }) consentToken?: string;
  @Text({ optional: true }) state?: string;
  @DateTime({ optional: true }) authorizedAt?: string;
  @Text({ optional: true }) institutionConsentId?: string;
}

export class Consent extends ConsentRecord {
  @DateTime({ optional: true }) lastConfirmedAt?: string;
  @DateTime({ optional: true }) reconfirmBy?: string;
  @Flag({ optional: true }) isDeletedByInstitution?: boolean;
}

export class ConsentDeleteResponse {
  @Uuid({ optional: true }) id?: string;
  @Choice(DeleteStatusEnum, 'DeleteStatusEnum', { optional: true }) deleteStatus?: DeleteStatusEnum;
  @Text({ optional: true }) institutionId?: string;
  @Text({ optional: true }) institutionConsentId?: string;
  @DateTime({ optional: true }) creationDate?: string;
}
