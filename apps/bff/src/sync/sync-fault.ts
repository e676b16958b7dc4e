/** How a synchronisation of a connection ended that did not end well. */
export interface SyncFault {
  /** A name, never a bank's text. */
  problem: string;
  /**
   * `needs-user` only on the closed list of proofs below; `check-consent` when the aggregator's consent has to be asked
   * before anything is believed; everything else is `retry`: the connection is degraded and keeps trying.
   */
  verdict: 'needs-user' | 'check-consent' | 'retry';
  /** Seconds the other side asked us to wait; absent or negative ones are survived. */
  retryAfterSeconds?: number;
}

interface Refusal {
  status?: number | undefined;
  institutionStatus?: number | undefined;
  timedOut: boolean;
  retryAfter?: number | undefined;
}

/**
 * What a refused or failed call says about the connection. Proofs that only the customer can help:
 * 403 on a call with the consent token (the interface's answer for a consent that is not authorised any more).
 * 404 of the consent and 401 or 403 of the institution are hints: the consent is asked.
 */
export function faultOf({ status, institutionStatus, timedOut, retryAfter }: Refusal): SyncFault {
  const wait = retryAfter !== undefined && retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {};
  if (timedOut) return { problem: 'timed-out', verdict: 'retry' };
  if (status === 403) return { problem: 'consent-refused', verdict: 'needs-user' };
  if (status === 424 && (institutionStatus === 401 || institutionStatus === 403))
    return { problem: 'institution-refused', verdict: 'check-consent' };
  if (status === 424 && institutionStatus === 429) return { problem: 'not-due-yet', verdict: 'retry', ...wait };
  if (status === 424) return { problem: 'institution-failed', verdict: 'retry', ...wait };
  if (status === 429) return { problem: 'not-due-yet', verdict: 'retry', ...wait };
  if (status === 404) return { problem: 'not-found', verdict: 'check-consent' };
  return { problem: 'aggregator-failed', verdict: 'retry', ...wait };
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

const backoffSeconds = [30, 120, 600, 1_800, 3_600, 21_600] as const;

/** Four unattended synchronisations a day, the most that is allowed without the user (RTS, article 36(5)). */
const everyMs = 6 * 3_600_000;

/** When a connection is due again, after `failures` bad ends in a row; 0 after a good one. */
export function nextSync(at: Date, failures: number, retryAfterSeconds?: number): Date {
  if (failures === 0) return new Date(at.getTime() + everyMs);
  const own = backoffSeconds[Math.min(failures, backoffSeconds.length) - 1] ?? 21_600;
  return new Date(at.getTime() + Math.max(own, Math.min(retryAfterSeconds ?? 0, 86_400)) * 1000);
}
