/** Where a connection stands. `needs-user` means that only the customer can bring it back, and there is a proof of it. */
export const ConnectionStatus = {
  preparing: 'preparing',
  awaitingAuthorisation: 'awaiting-authorisation',
  active: 'active',
  needsUser: 'needs-user',
  denied: 'denied',
  failed: 'failed',
  abandoned: 'abandoned',
  revoked: 'revoked',
} as const;
export type ConnectionStatus = (typeof ConnectionStatus)[keyof typeof ConnectionStatus];

const { preparing, awaitingAuthorisation, active, needsUser, denied, failed, abandoned, revoked } = ConnectionStatus;

const moves: Readonly<Record<ConnectionStatus, readonly ConnectionStatus[]>> = {
  [preparing]: [awaitingAuthorisation, failed, abandoned, revoked],
  [awaitingAuthorisation]: [active, denied, failed, abandoned, revoked],
  [active]: [needsUser, revoked],
  [needsUser]: [active, revoked],
  [denied]: [],
  [failed]: [],
  // A customer who comes back late is welcome: the consent at the aggregator decides, not our patience.
  [abandoned]: [active, denied, failed, revoked],
  [revoked]: [],
};

/** The states from which `to` may be reached; used as the condition of the compare-and-set. */
export function sourcesOf(to: ConnectionStatus): ConnectionStatus[] {
  return Object.values(ConnectionStatus).filter((from) => moves[from].includes(to));
}

/** Whether there is, or may still come to be, a consent to withdraw. */
export function isRevocable(status: ConnectionStatus): boolean {
  return moves[status].includes(revoked);
}

/** Whether its customer may authorise a connection in this state again and so keep it. */
export function isRenewable(status: string): boolean {
  return status === active || status === needsUser;
}

/** Whether only the customer can bring the connection back. */
export function needsItsUser(status: string): boolean {
  return status === needsUser;
}

/** Whether a connection in this state has data worth fetching. */
export function isReadable(status: string): boolean {
  return status === active;
}

/** Whether we still wait for the customer to come back from the bank. */
export function isWaiting(status: string): boolean {
  return status === awaitingAuthorisation || status === abandoned;
}

export function isConnectionStatus(text: string): text is ConnectionStatus {
  return Object.values<string>(ConnectionStatus).includes(text);
}

/** What the aggregator's consent says about the connection; undefined while nothing is decided. */
export function statusOfConsent(consent: {
  status?: string | undefined;
  consentToken?: string | undefined;
}): ConnectionStatus | undefined {
  switch (consent.status) {
    case 'AUTHORIZED':
      return consent.consentToken === undefined ? undefined : active;
    case 'REJECTED':
      return denied;
    case 'FAILED':
    case 'INVALID':
      return failed;
    case 'EXPIRED':
      return abandoned;
    case 'REVOKED':
      return revoked;
    default:
      return undefined;
  }
}

/** What the error in our callback's query says: the customer refused, or the bank failed. */
export function statusOfCallbackError(query: { error: string; source?: string | undefined }): ConnectionStatus {
  return query.source === 'user' || query.error === 'access_denied' ? denied : failed;
}

/** A customer takes minutes at the bank; then we look ourselves, because browsers get lost on the way back. */
export const firstLookMs = 5 * 60_000;
/** Who confirms on a device never comes back: only looking tells. */
export const elsewhereLookMs = 3_000;
const patienceMs = 24 * 3_600_000;

/**
 * When to look again at an authorisation that is still open; undefined when it is to be called abandoned. `isElsewhere`: its
 * customer was sent nowhere, and confirms on a device of theirs.
 */
export function nextLook(createdAt: Date, at: Date, { isElsewhere = false } = {}): Date | undefined {
  const age = at.getTime() - createdAt.getTime();
  const wait = isElsewhere ? Math.max(elsewhereLookMs, age / 10) : Math.max(firstLookMs, age);
  return age >= patienceMs ? undefined : new Date(at.getTime() + Math.min(wait, 3_600_000));
}

const sentences: Partial<Record<ConnectionStatus, string>> = {
  [active]: 'Your bank is connected.',
  [denied]: 'You did not connect your bank.',
  [awaitingAuthorisation]: 'Your bank’s answer is on its way.',
};

/** What the customer reads when there is no page of the merchant's to return to. */
export function sentenceOf(status: string): string {
  return (isConnectionStatus(status) ? sentences[status] : undefined) ?? 'Your bank could not be connected.';
}
