import { formatDuration, type Consent, type ConsentDeleteResponse, type DeleteStatusEnum } from '#libs/contract';
import { isGoneAtBank, showsToken } from './consent-state.js';
import type { ConsentRow } from './consent.queries.js';

/** A consent as the interface shows it at the instant `at`. `token` is shown only while its status gives it a use. */
export function toConsent(row: ConsentRow, at: Date, token?: string): Consent {
  return present({
    id: row.id,
    userUuid: row.userId,
    applicationUserId: row.applicationUserId,
    referenceId: row.referenceId,
    institutionId: row.institutionId,
    status: row.status,
    createdAt: row.createdAt.toISOString(),
    transactionFrom: row.transactionFrom?.toISOString(),
    transactionTo: row.transactionTo?.toISOString(),
    expiresAt: row.expiresAt?.toISOString(),
    timeToExpire: row.expiresAt === null ? undefined : formatDuration(row.expiresAt.getTime() - at.getTime()),
    featureScope: row.featureScope,
    consentToken: showsToken(row.status) ? token : undefined,
    state: row.state,
    authorizedAt: row.authorizedAt?.toISOString(),
    lastConfirmedAt: row.lastConfirmedAt?.toISOString(),
    reconfirmBy: row.reconfirmBy?.toISOString(),
    institutionConsentId: row.institutionConsentId || undefined,
    isDeletedByInstitution: isGoneAtBank(row.status) ? true : undefined,
  });
}

/** What DELETE answers. */
export function toDeleted(row: ConsentRow, deleteStatus: DeleteStatusEnum): ConsentDeleteResponse {
  return present({
    id: row.id,
    deleteStatus,
    institutionId: row.institutionId,
    institutionConsentId: row.institutionConsentId || undefined,
    creationDate: row.createdAt.toISOString(),
  });
}

/** Members without a value are absent on the wire, never null. */
function present<T extends object>(members: { [Member in keyof T]: T[Member] | null | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined)) as T;
}
