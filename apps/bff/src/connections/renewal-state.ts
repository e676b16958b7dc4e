import { ConnectionStatus, statusOfCallbackError, statusOfConsent } from './connection-state.js';

/** Where an attempt to authorise a connection again stands. However it ends, but for `completed`, the connection is as it was. */
export const RenewalStatus = {
  preparing: 'preparing',
  awaitingAuthorisation: 'awaiting-authorisation',
  completed: 'completed',
  denied: 'denied',
  failed: 'failed',
  abandoned: 'abandoned',
  /** Another attempt was begun, or the connection ended. */
  replaced: 'replaced',
} as const;
export type RenewalStatus = (typeof RenewalStatus)[keyof typeof RenewalStatus];

const { preparing, awaitingAuthorisation, completed, denied, failed, abandoned, replaced } = RenewalStatus;

const moves: Readonly<Record<RenewalStatus, readonly RenewalStatus[]>> = {
  [preparing]: [awaitingAuthorisation, failed, replaced],
  [awaitingAuthorisation]: [completed, denied, failed, abandoned, replaced],
  [completed]: [],
  [denied]: [],
  [failed]: [],
  [abandoned]: [],
  [replaced]: [],
};

/** The states from which `to` may be reached; used as the condition of the compare-and-set. */
export function sourcesOf(to: RenewalStatus): RenewalStatus[] {
  return Object.values(RenewalStatus).filter((from) => moves[from].includes(to));
}

/** Whether the customer may still come back from the bank. */
export function isOpen(status: string): boolean {
  return status === awaitingAuthorisation || status === preparing;
}

/** Whether the attempt was cut off before the aggregator's answer was stored. */
export function isCutOff(status: string): boolean {
  return status === preparing;
}

export function isRenewalStatus(text: string): text is RenewalStatus {
  return Object.values<string>(RenewalStatus).includes(text);
}

/** What an ended authorisation means for the attempt. */
const ends: Partial<Record<ConnectionStatus, RenewalStatus>> = {
  [ConnectionStatus.active]: completed,
  [ConnectionStatus.denied]: denied,
  [ConnectionStatus.failed]: failed,
  [ConnectionStatus.abandoned]: abandoned,
  [ConnectionStatus.revoked]: failed,
};

/** What the new consent says about the attempt; undefined while nothing is decided. */
export function endOfConsent(consent: Parameters<typeof statusOfConsent>[0]): RenewalStatus | undefined {
  const status = statusOfConsent(consent);
  return status && ends[status];
}

/** What the error in our callback's query says about the attempt. */
export function endOfCallbackError(query: Parameters<typeof statusOfCallbackError>[0]): RenewalStatus {
  return ends[statusOfCallbackError(query)] ?? failed;
}

/** Whether the attempt has succeeded with this status. */
export function isCompleted(status: RenewalStatus): boolean {
  return status === completed;
}

const sentences: Partial<Record<RenewalStatus, string>> = {
  [completed]: 'Your bank stays connected.',
  [denied]: 'You did not renew the connection to your bank.',
  [awaitingAuthorisation]: 'Your bank’s answer is on its way.',
};

/** What the customer reads when there is no page of the merchant's to return to. */
export function renewalSentence(status: string): string {
  const known = isRenewalStatus(status) ? sentences[status] : undefined;
  return known ?? 'The connection to your bank could not be renewed.';
}
