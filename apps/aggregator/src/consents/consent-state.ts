import { AuthorisationStatus } from '#libs/contract';
import type { ConsentState, Step } from '#libs/connectors';

const S = AuthorisationStatus;

/** How a consent ends when whoever was asked does not answer in time, refuses or fails. */
const WAYS_OUT: readonly AuthorisationStatus[] = [S.REJECTED, S.FAILED, S.EXPIRED];

/**
 * The allowed moves of a consent. A status that is missing on the right-hand side everywhere can only be a first one.
 * AWAITING_RE_AUTHORIZATION goes back to what it was when the second authorisation fails, so it lists both origins.
 */
const MOVES: Readonly<Record<AuthorisationStatus, readonly AuthorisationStatus[]>> = {
  AWAITING_AUTHORIZATION: [
    S.AUTHORIZED,
    S.AWAITING_FURTHER_AUTHORIZATION,
    S.AWAITING_DECOUPLED_AUTHORIZATION,
    S.UNKNOWN,
    ...WAYS_OUT,
  ],
  AWAITING_FURTHER_AUTHORIZATION: [S.AUTHORIZED, ...WAYS_OUT],
  AWAITING_RE_AUTHORIZATION: [
    S.AUTHORIZED,
    S.AWAITING_FURTHER_AUTHORIZATION,
    S.AWAITING_DECOUPLED_AUTHORIZATION,
    S.EXPIRED,
  ],
  AWAITING_DECOUPLED_AUTHORIZATION: [S.AUTHORIZED, S.AWAITING_FURTHER_AUTHORIZATION, ...WAYS_OUT],
  AWAITING_PRE_AUTHORIZATION: [S.PRE_AUTHORIZED, S.AWAITING_DECOUPLED_PRE_AUTHORIZATION, S.UNKNOWN, ...WAYS_OUT],
  AWAITING_DECOUPLED_PRE_AUTHORIZATION: [S.PRE_AUTHORIZED, ...WAYS_OUT],
  PRE_AUTHORIZED: [S.AWAITING_AUTHORIZATION, S.AWAITING_DECOUPLED_AUTHORIZATION, S.EXPIRED],
  AWAITING_SCA_METHOD: [S.AWAITING_SCA_CODE, S.AWAITING_DECOUPLED_AUTHORIZATION, S.AUTHORIZED, ...WAYS_OUT],
  AWAITING_SCA_CODE: [S.AUTHORIZED, S.AWAITING_FURTHER_AUTHORIZATION, ...WAYS_OUT],
  AUTHORIZED: [S.CONSUMED, S.EXPIRED, S.REVOKED, S.INVALID, S.AWAITING_RE_AUTHORIZATION],
  EXPIRED: [S.AWAITING_RE_AUTHORIZATION],
  UNKNOWN: [S.EXPIRED],
  CONSUMED: [],
  REJECTED: [],
  FAILED: [],
  REVOKED: [],
  INVALID: [],
};

const ALL = Object.keys(MOVES) as AuthorisationStatus[];

/** Waiting for the user, the client or the institution, or left without an answer we could read: such a status lives a day. */
const UNFINISHED: ReadonlySet<AuthorisationStatus> = new Set(
  ALL.filter((status) => status.startsWith('AWAITING_') || status === S.PRE_AUTHORIZED || status === S.UNKNOWN),
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

/**
 * What a consent token may be used for: reading data, making its one payment, asking about that payment, or renewing and
 * continuing the authorisation, which looks at the status itself because it refuses in other words.
 */
export type ConsentUse = 'read' | 'pay' | 'follow' | 'authorise';

/**
 * Whether a consent in `status` permits `use`. A consumed payment consent still reaches the payment's making, where the
 * same request is answered with the same payment and any other is refused.
 */
export function permits(status: AuthorisationStatus, use: ConsentUse): boolean {
  if (use === 'authorise') return true;
  return status === S.AUTHORIZED || (use !== 'read' && status === S.CONSUMED);
}

/** Whether the one payment of this consent has been made, or is being made. */
export function isSpent(status: AuthorisationStatus): boolean {
  return status === S.CONSUMED;
}

/** Whether the bank's answer in the user's browser is still awaited. */
export function awaitsCallback(status: AuthorisationStatus): boolean {
  return CALLBACK_STATUSES.has(status);
}

const CALLBACK_STATUSES: ReadonlySet<AuthorisationStatus> = new Set<AuthorisationStatus>([
  S.AWAITING_AUTHORIZATION,
  S.AWAITING_RE_AUTHORIZATION,
  S.AWAITING_PRE_AUTHORIZATION,
]);

/** The steps after which the bank waits for somebody. */
export type WaitingStep = Extract<Step, { pending: object }>;

/** What is being authorised: access itself, or only the user, at banks that want to know the user first. */
export type Phase = 'access' | 'pre-authorisation';

/** The status of a consent while the bank waits in this way; undefined where a phase does not know the way. */
export function statusOfStep(step: WaitingStep['kind'], phase: Phase = 'access'): AuthorisationStatus | undefined {
  return STEP_STATUSES[phase][step];
}

const STEP_STATUSES: Readonly<Record<Phase, { [Kind in WaitingStep['kind']]?: AuthorisationStatus }>> = {
  access: {
    redirect: S.AWAITING_AUTHORIZATION,
    'choose-method': S.AWAITING_SCA_METHOD,
    'enter-code': S.AWAITING_SCA_CODE,
    decoupled: S.AWAITING_DECOUPLED_AUTHORIZATION,
    'further-authorisation': S.AWAITING_FURTHER_AUTHORIZATION,
  },
  'pre-authorisation': {
    redirect: S.AWAITING_PRE_AUTHORIZATION,
    decoupled: S.AWAITING_DECOUPLED_PRE_AUTHORIZATION,
  },
};

/** What a consent in `status` is waiting for. */
export function phaseOf(status: AuthorisationStatus): Phase {
  const isFirst = status === S.AWAITING_PRE_AUTHORIZATION || status === S.AWAITING_DECOUPLED_PRE_AUTHORIZATION;
  return isFirst ? 'pre-authorisation' : 'access';
}

/** Where a consent goes when the bank waits in another way than before; it stays where the table knows no such move. */
export function statusAfter(from: AuthorisationStatus, step: WaitingStep['kind']): AuthorisationStatus {
  const to = statusOfStep(step, phaseOf(from));
  return to !== undefined && mayMove(from, to) ? to : from;
}

/** Where a consent goes when the bank has granted what it waits for. */
export function statusGranted(from: AuthorisationStatus): AuthorisationStatus {
  return phaseOf(from) === 'pre-authorisation' ? S.PRE_AUTHORIZED : S.AUTHORIZED;
}

/** How an authorisation fails: the user or the bank refused, something broke, or the answer could not be read. */
export type Failure = 'REJECTED' | 'FAILED' | 'UNKNOWN';

/** Where a consent goes when its authorisation fails: after a re-authorisation to what it was, `former`. */
export function statusFailed(
  from: AuthorisationStatus,
  failure: Failure,
  former: AuthorisationStatus | null,
): AuthorisationStatus {
  if (former !== null) return former;
  return mayMove(from, failure) ? failure : S.FAILED;
}

/** Whether the account consent may be authorised again. */
export function mayRenew(status: AuthorisationStatus): boolean {
  return mayMove(status, S.AWAITING_RE_AUTHORIZATION);
}

/** Whether the second step of a pre-authorisation may begin. */
export function isPreAuthorised(status: AuthorisationStatus): boolean {
  return status === S.PRE_AUTHORIZED;
}

/** What an embedded authorisation wants from the client next. */
export function wantedOf(status: AuthorisationStatus): 'method' | 'code' | undefined {
  if (status === S.AWAITING_SCA_METHOD) return 'method';
  return status === S.AWAITING_SCA_CODE ? 'code' : undefined;
}

const POLLED: readonly AuthorisationStatus[] = [
  S.AWAITING_DECOUPLED_AUTHORIZATION,
  S.AWAITING_DECOUPLED_PRE_AUTHORIZATION,
  S.AWAITING_FURTHER_AUTHORIZATION,
];

/** Whether only the bank can tell how far it is: nobody comes back through a browser. */
export function isPolled(status: AuthorisationStatus): boolean {
  return POLLED.includes(status);
}

/** The statuses in which the sweep asks the bank. */
export function polledStatuses(): AuthorisationStatus[] {
  return [...POLLED];
}

/** The statuses in which the user may confirm continued access. */
export function confirmableStatuses(): AuthorisationStatus[] {
  return [S.AUTHORIZED];
}

/** Where an authorised consent goes when the bank says this of it; undefined while all is well. */
export function statusAtBank(state: ConsentState): AuthorisationStatus | undefined {
  return BANK_STATES[state];
}

const BANK_STATES: Readonly<Record<ConsentState, AuthorisationStatus | undefined>> = {
  authorised: undefined,
  awaiting: S.INVALID,
  rejected: S.INVALID,
  revoked: S.REVOKED,
  expired: S.EXPIRED,
};

/** Whether the bank's copy of the consent is gone: only a bank revokes. */
export function isGoneAtBank(status: AuthorisationStatus): boolean {
  return status === S.REVOKED;
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

/** The statuses that last a day: then the sweep ends them, or takes a re-authorisation back to what the consent was. */
export function unfinishedStatuses(): AuthorisationStatus[] {
  return [...UNFINISHED];
}

/** The statuses whose `expiresAt` the sweep watches. */
export function expiringStatuses(): AuthorisationStatus[] {
  return [S.AUTHORIZED, S.PRE_AUTHORIZED];
}

/** Whether a consent's end has passed without its status saying so. */
export function isOverdue({ status, expiresAt }: ConsentEnd, at: Date): boolean {
  return expiresAt !== null && expiresAt <= at && expiringStatuses().includes(status);
}

/** What tells when a consent ends. */
export interface ConsentEnd {
  status: AuthorisationStatus;
  expiresAt: Date | null;
}

/** Whether `value` is one of the 17 statuses. */
export function isConsentStatus(value: string): value is AuthorisationStatus {
  return Object.hasOwn(MOVES, value);
}
