import { AuthorisationStatus } from '#libs/contract';

const S = AuthorisationStatus;

/** How a consent ends when whoever was asked does not answer in time, refuses, fails, or the owner deletes it. */
const WAYS_OUT: readonly AuthorisationStatus[] = [S.REJECTED, S.FAILED, S.EXPIRED, S.REVOKED, S.INVALID];

/**
 * The allowed moves of a consent. A status that is missing on the right-hand side everywhere can only be a first one.
 * AWAITING_RE_AUTHORIZATION goes back to what it was when the second authorisation fails, so it lists both origins.
 */
const MOVES: Readonly<Record<AuthorisationStatus, readonly AuthorisationStatus[]>> = {
  AWAITING_AUTHORIZATION: [S.AUTHORIZED, S.AWAITING_FURTHER_AUTHORIZATION, ...WAYS_OUT],
  AWAITING_FURTHER_AUTHORIZATION: [S.AUTHORIZED, ...WAYS_OUT],
  AWAITING_RE_AUTHORIZATION: [S.AUTHORIZED, S.EXPIRED, S.REVOKED, S.INVALID],
  AWAITING_DECOUPLED_AUTHORIZATION: [S.AUTHORIZED, S.AWAITING_FURTHER_AUTHORIZATION, ...WAYS_OUT],
  AWAITING_PRE_AUTHORIZATION: [S.PRE_AUTHORIZED, ...WAYS_OUT],
  AWAITING_DECOUPLED_PRE_AUTHORIZATION: [S.PRE_AUTHORIZED, ...WAYS_OUT],
  PRE_AUTHORIZED: [S.AWAITING_AUTHORIZATION, S.AWAITING_DECOUPLED_AUTHORIZATION, S.EXPIRED, S.REVOKED, S.INVALID],
  AWAITING_SCA_METHOD: [S.AWAITING_SCA_CODE, S.AWAITING_DECOUPLED_AUTHORIZATION, S.AUTHORIZED, ...WAYS_OUT],
  AWAITING_SCA_CODE: [S.AUTHORIZED, S.AWAITING_FURTHER_AUTHORIZATION, ...WAYS_OUT],
  AUTHORIZED: [S.CONSUMED, S.EXPIRED, S.REVOKED, S.INVALID, S.AWAITING_RE_AUTHORIZATION],
  EXPIRED: [S.AWAITING_RE_AUTHORIZATION, S.REVOKED],
  UNKNOWN: [S.AUTHORIZED, ...WAYS_OUT],
  CONSUMED: [],
  REJECTED: [],
  FAILED: [],
  REVOKED: [],
  INVALID: [],
};

const ALL = Object.keys(MOVES) as AuthorisationStatus[];

/** Waiting for the user or the institution; such a consent lives a day and has no token of its own yet. */
const UNFINISHED: ReadonlySet<AuthorisationStatus> = new Set(
  ALL.filter((status) => status.startsWith('AWAITING_') && status !== S.AWAITING_RE_AUTHORIZATION),
);

/** Whether a consent in `from` may become `to`. */
export function mayMove(from: AuthorisationStatus, to: AuthorisationStatus): boolean {
  return MOVES[from].includes(to);
}

/** Every status from which `to` may be reached: the `from` side of a compare-and-set. */
export function sourcesOf(to: AuthorisationStatus): AuthorisationStatus[] {
  return ALL.filter((from) => mayMove(from, to));
}

/** No move leads out of it. */
export function isTerminal(status: AuthorisationStatus): boolean {
  return MOVES[status].length === 0;
}

/** What a consent token may be used for: reading data, making its one payment, or asking about that payment. */
export type ConsentUse = 'read' | 'pay' | 'follow';

/**
 * Whether a consent in `status` permits `use`. A consumed payment consent still reaches the payment's making, where the
 * same request is answered with the same payment and any other is refused (service-facts 11.5).
 */
export function permits(status: AuthorisationStatus, use: ConsentUse): boolean {
  return status === S.AUTHORIZED || (use !== 'read' && status === S.CONSUMED);
}

/** Whether the one payment of this consent has been made, or is being made. */
export function isSpent(status: AuthorisationStatus): boolean {
  return status === S.CONSUMED;
}

/** Whether the bank's answer in the user's browser is still awaited. */
export function awaitsCallback(status: AuthorisationStatus): boolean {
  return CALLBACK_STATUSES.includes(status);
}

const CALLBACK_STATUSES: readonly AuthorisationStatus[] = [
  S.AWAITING_AUTHORIZATION,
  S.AWAITING_RE_AUTHORIZATION,
  S.AWAITING_PRE_AUTHORIZATION,
];

/** The status of a consent while the bank waits in this way (the connector's steps). */
export function statusOfStep(step: keyof typeof STEP_STATUSES): AuthorisationStatus {
  return STEP_STATUSES[step];
}

const STEP_STATUSES = {
  redirect: S.AWAITING_AUTHORIZATION,
  'choose-method': S.AWAITING_SCA_METHOD,
  'enter-code': S.AWAITING_SCA_CODE,
  decoupled: S.AWAITING_DECOUPLED_AUTHORIZATION,
  'further-authorisation': S.AWAITING_FURTHER_AUTHORIZATION,
} as const;

/** The statuses in which a callback may be taken: the `from` side of claiming it. */
export function callbackStatuses(): AuthorisationStatus[] {
  return [...CALLBACK_STATUSES];
}

/** Whether GET /consents shows the consent token. */
export function showsToken(status: AuthorisationStatus): boolean {
  return TOKEN_STATUSES.has(status);
}

const TOKEN_STATUSES: ReadonlySet<AuthorisationStatus> = new Set([
  S.AUTHORIZED,
  S.CONSUMED,
  S.AWAITING_RE_AUTHORIZATION,
  S.PRE_AUTHORIZED,
]);

/** The statuses that the sweep ends after a day. */
export function unfinishedStatuses(): AuthorisationStatus[] {
  return [...UNFINISHED];
}

/** The statuses whose `expiresAt` the sweep watches. */
export function expiringStatuses(): AuthorisationStatus[] {
  return [S.AUTHORIZED, S.PRE_AUTHORIZED];
}

/** Whether `value` is one of the 17 statuses. */
export function isConsentStatus(value: string): value is AuthorisationStatus {
  return Object.hasOwn(MOVES, value);
}
