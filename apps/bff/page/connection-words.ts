import { day, moment, plural } from './format.js';
import type { Connection, Forecast } from './views.js';

/** What a person is told of a connection: its state in a word, and sentences about what stops or is late. */

const statuses: Readonly<Record<Connection['status'], string>> = {
  preparing: 'preparing',
  'awaiting-authorisation': 'waiting for you',
  active: 'connected',
  'needs-user': 'needs you',
  denied: 'not allowed',
  failed: 'failed',
  abandoned: 'left unfinished',
  revoked: 'disconnected',
};

/** Each completes a sentence that ends in “because …”. */
const causes: Readonly<Record<string, string>> = {
  'consent-expiry': 'the consent ends at the bank',
  'sca-age': 'the bank wants to see its customer again',
  reconfirmation: 'you have to confirm that access may go on',
  'revoked-at-institution': 'the consent was withdrawn at the bank',
  'consent-refused': 'the bank no longer accepts the consent',
  'consent-invalid': 'the bank no longer accepts the consent',
  'consent-gone': 'the consent is not known any more',
  'institution-refused': 'the bank refused the call',
  'institution-failed': 'the bank failed',
  'institution-outage': 'the bank has an outage',
  'timed-out': 'the bank did not answer in time',
  'incomplete-answer': 'the bank’s answer was not complete',
  'history-refused': 'the bank refused the history',
  'not-due-yet': 'the bank allows no more calls for now',
  'not-found': 'the bank does not know the account',
  'not-shared': 'an account is no longer shared',
  'aggregator-failed': 'the aggregator failed',
  'aggregator-refused': 'the aggregator refused the call',
  'taken-over': 'another process took it over',
  interrupted: 'it was interrupted',
  internal: 'something failed on our side',
};

/** A cause in words; its own name where it is a new one. */
export function causeOf(cause: string | undefined): string {
  return cause === undefined ? 'the bank has ended it' : (causes[cause] ?? cause.replaceAll('-', ' '));
}

export function statusOf({ status, health }: Pick<Connection, 'status' | 'health'>): string {
  return status === 'active' && health === 'degraded' ? 'late' : statuses[status];
}

/** Which data stop, when and why. */
export function outlookOf({ outlook, at, daysLeft, cause, action }: Forecast): string {
  if (action === 'authorise') return 'Finish at your bank what was begun: nothing is read until then.';
  if (outlook === 'steady') return 'Data go on: no end is known.';
  if (outlook === 'stopped')
    return `Data ${at === undefined ? 'have stopped' : `stopped on ${day(at)}`}, because ${causeOf(cause)}.`;
  const left = daysLeft === undefined ? '' : ` (in ${plural(daysLeft, 'day')})`;
  return `Data stop on ${day(at)}${left}, because ${causeOf(cause)}.`;
}

/** Data that are late, and when it is tried again; undefined where nothing is late. */
export function latenessOf({ interruption }: Forecast): string | undefined {
  if (!interruption) return undefined;
  const { cause, owner, nextAttemptAt } = interruption;
  const next = nextAttemptAt === undefined ? '' : ` It is tried again at ${moment(nextAttemptAt)}.`;
  const yours = owner === 'customer' ? '' : ' You need not do anything.';
  return `Data are late, because ${causeOf(cause)}.${next}${yours}`;
}

/** Of each clock of a consent, what ends then. */
export const clockWords: Readonly<Record<Forecast['clocks'][number]['clock'], string>> = {
  'consent-expiry': 'consent at the bank',
  'sca-age': 'login at the bank',
  reconfirmation: 'your confirmation',
};

/** How soon an end has to be told aloud. */
const soonDays = 30;

/** Whether the customer should act now. */
export function isUrgent({ outlook, action, daysLeft }: Forecast): boolean {
  return action !== 'authorise' && (outlook === 'stopped' || (outlook === 'ahead' && (daysLeft ?? 0) <= soonDays));
}
