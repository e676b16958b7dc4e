import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { InstitutionError } from '../institution-error.js';

/** The claims of an id_token whose signature is checked elsewhere. Throws malformed for a text that is no JWT. */
export function claimsOf(idToken: string | null): Record<string, unknown> | undefined {
  if (!idToken) return undefined;
  try {
    return decodeJwt(idToken);
  } catch {
    throw unverified('id_token');
  }
}

/** OpenID Connect Core 3.1.3.6: the left half of the hash that goes with PS256, in base64url. */
export function halfHash(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
}

/** The refusal of an answer that failed a check; `what` names the claim. */
export function unverified(what: string): InstitutionError {
  return new InstitutionError('malformed', `The institution's answer failed its checks: ${what}`, { code: what });
}
