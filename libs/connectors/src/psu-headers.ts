import type { Institution, PsuHeaders } from './connector.js';

/** The PSU headers that the institution cannot do without and this caller did not send, in the institution's order. */
export function missingPsuHeaders(
  institution: Pick<Institution, 'requiredPsuHeaders'>,
  psu: PsuHeaders,
): (keyof PsuHeaders)[] {
  return institution.requiredPsuHeaders.filter((name) => psu[name] === undefined || psu[name] === '');
}
