import { header, type AuthorisationRequest, type Issue, type PsuHeaders } from '#libs/contract';
import type { Institution } from '#libs/connectors';
import { isPlainHttp, isRegisteredCallback } from './callback-url.js';

/** What the rules compare a request with. */
export interface Surroundings {
  registeredCallbacks: readonly string[];
  /** In production a token never travels over plain http. */
  allowPlainHttp: boolean;
}

/** What is wrong with where the user is to be sent afterwards; empty when nothing is. */
export function callbackIssues(request: AuthorisationRequest, surroundings: Surroundings): Issue[] {
  const { callback, oneTimeToken, redirect } = request;
  const issues: Issue[] = [];
  if (redirect !== undefined && callback !== undefined) {
    issues.push(issue('$.redirect', 'cannot be combined with callback'));
  } else if (redirect !== undefined) {
    issues.push(...addressIssues('$.redirect.url', redirect.url, surroundings));
  }
  if (callback !== undefined) issues.push(...addressIssues('$.callback', callback, surroundings));
  else if (oneTimeToken === true) issues.push(issue('$.oneTimeToken', 'works only with a callback'));
  return issues;
}

function addressIssues(parameter: string, url: string, { registeredCallbacks, allowPlainHttp }: Surroundings): Issue[] {
  if (!isRegisteredCallback(url, registeredCallbacks)) {
    return [issue(parameter, 'is not registered with the application')];
  }
  return !allowPlainHttp && isPlainHttp(url) ? [issue(parameter, 'must be an https address')] : [];
}

const PSU_HEADERS = {
  id: { name: header.psuId, member: 'psuId' },
  corporateId: { name: header.psuCorporateId, member: 'psuCorporateId' },
  ipAddress: { name: header.psuIpAddress, member: 'psuIpAddress' },
} as const;

/** What differs between a consent and a later request that belongs to it: the institution and the user stay the same. */
export function subjectIssues(
  request: AuthorisationRequest,
  consent: { institutionId: string; userId: string; applicationUserId: string | null },
): Issue[] {
  const { institutionId, userUuid, applicationUserId } = request;
  const issues: Issue[] = [];
  if (institutionId !== consent.institutionId) issues.push(issue('$.institutionId', 'is not that of the consent'));
  if (userUuid !== undefined && userUuid.toLowerCase() !== consent.userId) {
    issues.push(issue('$.userUuid', 'is not that of the consent'));
  }
  if (applicationUserId !== undefined && applicationUserId !== consent.applicationUserId) {
    issues.push(issue('$.applicationUserId', 'is not that of the consent'));
  }
  return issues;
}

/** What a payment is pre-authorised for is a payment, although the contract lets the caller say so. */
export function paymentScopeIssues({ scope }: { scope: string }): Issue[] {
  return scope === 'PIS' ? [] : [issue('$.scope', 'must be PIS for a payment')];
}

/** The PSU headers that the institution cannot do without and the request lacks. */
export function psuHeaderIssues(psu: PsuHeaders, required: Institution['requiredPsuHeaders']): Issue[] {
  return Object.entries(PSU_HEADERS)
    .filter(([name, { member }]) => required.some((wanted) => wanted === name) && psu[member] === undefined)
    .map(([, { name }]) => issue(name, 'is mandatory at this institution'));
}

function issue(parameter: string, message: string): Issue {
  return {
    type: 'INVALID_REQUEST',
    code: 'INVALID_PROPERTY_UNEXPECTED_VALUE',
    parameter,
    message: `${parameter} ${message}`,
  };
}
