/**
 * The closed list of what proves that a consent has ended, and the name of the reason. One that is being authorised again is
 * no proof: it goes back to what it was when that fails.
 */
const proofs: ReadonlyMap<string, string> = new Map([
  ['REVOKED', 'revoked-at-institution'],
  ['EXPIRED', 'consent-expiry'],
  ['REJECTED', 'consent-invalid'],
  ['FAILED', 'consent-invalid'],
  ['INVALID', 'consent-invalid'],
]);

/** Why a consent in this status can no longer be used; undefined when the status proves nothing of the kind. */
export function proofIn(consentStatus: string | undefined): string | undefined {
  return consentStatus === undefined ? undefined : proofs.get(consentStatus);
}

/** Whether the aggregator takes the consent for usable. */
export function isAuthorised(consentStatus: string | undefined): boolean {
  return consentStatus === 'AUTHORIZED';
}
