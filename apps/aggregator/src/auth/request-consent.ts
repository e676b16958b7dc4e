import type { ConsentRow } from '../consents/consent.queries.js';

const consents = new WeakMap<object, ConsentRow>();

/** Remembers the consent of a request for as long as the request lives. */
export function rememberConsent(request: object, consent: ConsentRow): void {
  consents.set(request, consent);
}

/** The consent of a request that the consent guard let in. */
export function consentOf(request: object): ConsentRow {
  const consent = consents.get(request);
  if (consent === undefined) throw new Error('The request has no consent: its route lacks NeedsConsent');
  return consent;
}
