import { header, type AuthorisationRequest, type Issue, type PsuHeaders } from '#libs/contract';
import type { Institution } from '#libs/connectors';
import { isPlainHttp, isRegisteredCallback } from './callback-url.js';

/** What the rules compare a request with. */
export interface Surroundings {
  registeredCallbacks: readonly string[];
  /** In production a token never travels over plain http. */
  allowPlainHttp: boolean;
}

/** What is wrong with where the user is to be sent afterwards (service-facts 5.1, 6.6); empty when nothing is. */
export function callbackIssues(
  request: AuthorisationRequest,
  { registeredCallbacks, allowPlainHttp }: Surroundings,
): Issue[] {
  const { callback, oneTimeToken, redirect } = request;
  const issues: Issue[] = [];
  if (redirect !== undefined) issues.push(issue('$.redirect', 'is not offered: use callback'));
  if (callback === undefined) {
    if (oneTimeToken === true) issues.push(issue('$.oneTimeToken', 'works only with a callback'));
    return issues;
  }
  if (!isRegisteredCallback(callback, registeredCallbacks)) {
    issues.push(issue('$.callback', 'is not registered with the application'));
  } else if (!allowPlainHttp && isPlainHttp(callback)) {
    issues.push(issue('$.callback', 'must be an https address'));
  }
  return issues;
}

const PSU_HEADERS = {
  id: { name: header.psuId, member: 'psuId' },
  corporateId: { name: header.psuCorporateId, member: 'psuCorporateId' },
  ipAddress: { name: header.psuIpAddress, member: 'psuIpAddress' },
} as const;

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
