import { randomBytes } from 'node:crypto';
import { hashToken } from '#libs/database';

/** What our callback's address carries, so that it can be finished on the server in whatever browser it arrives. */
export interface CallbackState {
  /** 64 lowercase hexadecimal characters; only in the address. */
  state: string;
  /** What is stored of it. */
  hash: string;
}

const form = /^[0-9a-f]{64}$/;

/** A new state, good for one authorisation. */
export function newCallbackState(): CallbackState {
  const state = randomBytes(32).toString('hex');
  return { state, hash: hashToken(state) };
}

/** The stored form of a state that came back, or undefined when it cannot be one of ours. */
export function hashOfState(state: unknown): string | undefined {
  return typeof state === 'string' && form.test(state) ? hashToken(state) : undefined;
}

/** What the aggregator adds to our callback's query. */
export interface CallbackQuery {
  state?: unknown;
  'one-time-token'?: unknown;
  error?: unknown;
  'error-source'?: unknown;
}

/** How the authorisation ended, as the browser brings it; the state has been checked before. */
export type CallbackOutcome =
  | { kind: 'token'; oneTimeToken: string }
  | { kind: 'error'; error: string; source: string | undefined }
  | { kind: 'nothing' };

export function outcomeOf(query: CallbackQuery): CallbackOutcome {
  const oneTimeToken = query['one-time-token'];
  if (typeof oneTimeToken === 'string' && oneTimeToken !== '') return { kind: 'token', oneTimeToken };
  const { error } = query;
  if (typeof error !== 'string') return { kind: 'nothing' };
  const source = query['error-source'];
  return { kind: 'error', error, source: typeof source === 'string' ? source : undefined };
}

const knownErrors = new Map([
  ['access_denied', 'access-denied'],
  ['login_required', 'login-required'],
  ['invalid_request', 'institution-refused'],
  ['server_error', 'institution-failed'],
  ['temporarily_unavailable', 'institution-failed'],
]);

/** The named reason of a callback's error: what a bank wrote is never stored or shown as it is. */
export function reasonOfError(error: string): string {
  return knownErrors.get(error) ?? 'authorisation-failed';
}
