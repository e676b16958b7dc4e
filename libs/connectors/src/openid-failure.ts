import * as client from 'openid-client';
import { kindOf, retryAfterMs } from './bank-http.js';
import { InstitutionError } from './institution-error.js';

/**
 * A fault of openid-client as ours. Its causes are dropped, since they hold codes, tokens and claims; the code it
 * gives says which check failed.
 */
export function openidFailure(fault: unknown, now: Date): unknown {
  const ours = withinChain(fault, (each) => each instanceof InstitutionError);
  if (ours) return ours;
  if (fault instanceof client.AuthorizationResponseError) return fault;
  if (fault instanceof client.ResponseBodyError) {
    const { status, error } = fault;
    // Whatever the token endpoint has against us, it lets us no further; it never judges what we meant to do there.
    const kind = status >= 400 && status < 500 && status !== 429 ? 'unauthorised' : kindOf(status);
    return new InstitutionError(kind, error, {
      httpStatus: status,
      code: error,
      retryAfterMs: retryAfterMs(fault.response.headers.get('retry-after') ?? undefined, now),
    });
  }
  const response = withinChain(fault, (each) => each instanceof Response);
  if (response instanceof Response && response.status >= 300) {
    return new InstitutionError(kindOf(response.status), 'The institution refused to give a token', {
      httpStatus: response.status,
      retryAfterMs: retryAfterMs(response.headers.get('retry-after') ?? undefined, now),
    });
  }
  if (fault instanceof client.ClientError || fault instanceof client.WWWAuthenticateChallengeError) {
    const code = fault.code ?? 'unknown';
    return new InstitutionError('malformed', `The institution's answer failed its checks: ${code}`, { code });
  }
  return fault;
}

function withinChain(fault: unknown, fits: (each: unknown) => boolean): unknown {
  for (let each = fault, depth = 0; each && depth < 6; depth += 1) {
    if (fits(each)) return each;
    each = each instanceof Error ? each.cause : undefined;
  }
  return undefined;
}
