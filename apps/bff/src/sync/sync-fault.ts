/** Who has to do something about a reason, and what. */
export interface Meaning {
  owner: 'user' | 'merchant' | 'institution' | 'operator';
  /** `wait`: it is tried again by itself; the others need somebody. */
  nextStep: 'wait' | 'renew-consent' | 'share-account' | 'contact-operator';
  /** The institution itself has failed: enough of these in a row are an outage. */
  isOutage?: true;
}

/** Every reason for which an account or a connection may not be up to date. The list is closed. */
export const syncProblems = {
  'consent-refused': { owner: 'user', nextStep: 'renew-consent' },
  'institution-refused': { owner: 'institution', nextStep: 'wait' },
  'institution-failed': { owner: 'institution', nextStep: 'wait', isOutage: true },
  'institution-outage': { owner: 'institution', nextStep: 'wait' },
  'timed-out': { owner: 'institution', nextStep: 'wait', isOutage: true },
  'incomplete-answer': { owner: 'institution', nextStep: 'wait' },
  'history-refused': { owner: 'institution', nextStep: 'wait' },
  'not-due-yet': { owner: 'institution', nextStep: 'wait' },
  'not-found': { owner: 'institution', nextStep: 'wait' },
  'not-shared': { owner: 'user', nextStep: 'share-account' },
  'aggregator-failed': { owner: 'operator', nextStep: 'wait' },
  'aggregator-refused': { owner: 'operator', nextStep: 'contact-operator' },
  'taken-over': { owner: 'operator', nextStep: 'wait' },
  interrupted: { owner: 'operator', nextStep: 'wait' },
  internal: { owner: 'operator', nextStep: 'contact-operator' },
} as const satisfies Record<string, Meaning>;
export type SyncProblem = keyof typeof syncProblems;

/** What a reason means; undefined for one that is not on the list. */
export function meaningOf(problem: string): Meaning | undefined {
  return Object.hasOwn(syncProblems, problem) ? syncProblems[problem as SyncProblem] : undefined;
}

/** How a synchronisation of a connection ended that did not end well. */
export interface SyncFault {
  /** A name, never a bank's text. */
  problem: SyncProblem;
  /**
   * `needs-user` only on the closed list of proofs below; `check-consent` when the aggregator's consent has to be asked
   * before anything is believed; `not-due-yet` is no fault at all, but a later time; everything else is `retry`: the
   * connection is degraded and keeps trying.
   */
  verdict: 'needs-user' | 'check-consent' | 'not-due-yet' | 'retry';
  /** Seconds the other side asked us to wait; absent or negative ones are survived. */
  retryAfterSeconds?: number;
  /** The call is known not to have reached the institution, so it does not count. */
  isUncounted?: true;
}

interface Refusal {
  status?: number | undefined;
  institutionStatus?: number | undefined;
  timedOut: boolean;
  retryAfter?: number | undefined;
  issues?: readonly { parameter?: string }[];
}

/**
 * What a refused or failed call says about the connection. Proofs that only the customer can help:
 * 403 on a call with the consent token (the interface's answer for a consent that is not authorised any more).
 * 404 of the consent and 401 or 403 of the institution are hints: the consent is asked.
 */
export function faultOf(refusal: Refusal): SyncFault {
  const { status, timedOut, retryAfter } = refusal;
  const wait = retryAfter !== undefined && retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {};
  if (timedOut) return { problem: 'timed-out', verdict: 'retry' };
  if (status === 424) return { ...faultOfInstitution(refusal), ...wait };
  if (status === 403) return { problem: 'consent-refused', verdict: 'needs-user', isUncounted: true };
  if (status === 429) return { problem: 'not-due-yet', verdict: 'not-due-yet', isUncounted: true, ...wait };
  if (status === 404) return { problem: 'not-found', verdict: 'check-consent' };
  if (status === 401) return { problem: 'aggregator-refused', verdict: 'retry', isUncounted: true };
  return { problem: 'aggregator-failed', verdict: 'retry', isUncounted: true, ...wait };
}

function faultOfInstitution({ institutionStatus }: Refusal): SyncFault {
  if (institutionStatus === 401 || institutionStatus === 403)
    return { problem: 'institution-refused', verdict: 'check-consent' };
  if (institutionStatus === 429) return { problem: 'not-due-yet', verdict: 'not-due-yet' };
  return { problem: 'institution-failed', verdict: 'retry' };
}

const statusesOfDepth: ReadonlySet<number> = new Set([400, 403, 404, 416, 422]);

/** Whether a refusal may mean that the asked history is too long: of the institution, or of the aggregator's own bounds. */
export function mayBeTooLong({ status, institutionStatus, issues = [] }: Refusal): boolean {
  if (status === 400) return issues.some(({ parameter }) => parameter === 'from');
  return status === 424 && institutionStatus !== undefined && statusesOfDepth.has(institutionStatus);
}

/** Consent statuses that prove that the customer has to come back. */
const lapsed: ReadonlySet<string> = new Set([
  'REVOKED',
  'EXPIRED',
  'REJECTED',
  'FAILED',
  'INVALID',
  'AWAITING_RE_AUTHORIZATION',
]);

/** Whether the consent, as the aggregator knows it, can no longer be used without its user. */
export function isLapsed(consentStatus: string | undefined): boolean {
  return consentStatus !== undefined && lapsed.has(consentStatus);
}

/** The institution gave pages that do not make one complete answer: nothing of it is recorded. */
export class IncompleteAnswer extends Error {
  override readonly name = 'IncompleteAnswer';
}
