import { ConsentDeleteResponse, DeleteStatusEnum } from '../consents/consent.dto.js';
import { enumeration } from '../enumeration.js';
import { Choice, DateTime, Flag, Nested, Text, Uuid } from '../field.js';

export const PatchOperation = enumeration('add', 'replace');
export type PatchOperation = keyof typeof PatchOperation;

export class InstitutionConsent {
  @Text({ always: true }) institutionId!: string;
}

export class ApplicationUser {
  @Uuid({ always: true }) uuid!: string;
  @Uuid({ always: true }) applicationUuid!: string;
  @Text({ optional: true }) applicationUserId?: string;
  @Text({ optional: true }) referenceId?: string;
  @DateTime({ always: true }) createdAt!: string;
  @Nested(() => InstitutionConsent, { always: true, array: true }) institutionConsents!: InstitutionConsent[];
  @Flag({ optional: true, default: false }) vopOptOut?: boolean;
}

export class NewApplicationUser {
  @Text({ optional: true, maxLength: 256 }) applicationUserId?: string;
  @Text({ optional: true, maxLength: 256 }) referenceId?: string;
  @Flag({ optional: true, default: false }) vopOptOut?: boolean;
}

export class ApplicationUserPatchRequest {
  @Choice(PatchOperation, 'PatchOperation', { optional: true, default: 'replace' }) op?: PatchOperation;
  @Text() path!: string;
  @Text({ maxLength: 256 }) value!: string;
}

export class UserDeleteResponse {
  @Text({ always: true }) id!: string;
  @Choice(DeleteStatusEnum, 'DeleteStatusEnum', { always: true }) deleteStatus!: DeleteStatusEnum;
  @DateTime({ optional: true }) creationDate?: string;
  @Nested(() => ConsentDeleteResponse, { optional: true, array: { unique: true } })
  userConsents?: ConsentDeleteResponse[];
}
