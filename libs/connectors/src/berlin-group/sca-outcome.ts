import type { ConsentState, Grant, Step } from '../connector.js';
import { mask } from '../institution-error.js';
import { unreadable } from '../wire.js';
import type { ConsentStatus } from './berlin-group.types.js';

/** What a consent's status means (section 14.14): to us, and to whoever asks where the consent stands. */
const states: Readonly<Record<ConsentStatus, ConsentState>> = {
  received: 'awaiting',
  partiallyAuthorised: 'awaiting',
  valid: 'authorised',
  rejected: 'rejected',
  revokedByPsu: 'revoked',
  terminatedByTpp: 'revoked',
  expired: 'expired',
};

/** Throws malformed for a status that the standard does not know. */
export function consentStateOf(status: string | undefined): ConsentState {
  if (status === undefined || !Object.hasOwn(states, status)) throw unreadable('consentStatus');
  return states[status as ConsentStatus];
}

/** The part of what is pending that these steps are made of. */
interface Waiting {
  consentId: string;
  sentTo?: string;
  message?: string;
}

/** Where an authorisation stands by its consent's status; `valid` is for the caller, who reads the last day too. */
export function outcome(
  status: string | undefined,
  { process, message }: { process: Waiting; message: string | undefined },
): Step | 'valid' {
  const state = consentStateOf(status);
  if (state === 'authorised') return 'valid';
  if (status === 'partiallyAuthorised') {
    const told = message ?? process.message;
    return { kind: 'further-authorisation', ...(told ? { message: told } : {}), pending: pendingOf(process) };
  }
  if (state === 'awaiting') return notYet(process);
  return { kind: 'rejected', reason: mask(message ?? `The consent is ${status}`) };
}

/** Nothing has changed: the PSU is still where they were sent, or acts on another device. */
export function notYet(process: Waiting): Step {
  if (process.sentTo) return { kind: 'redirect', url: process.sentTo, pending: pendingOf(process) };
  const message = process.message ?? 'Confirm the access at your bank';
  return { kind: 'decoupled', message, pending: pendingOf(process) };
}

function pendingOf(process: Waiting): Grant {
  return { institutionConsentId: process.consentId, state: process };
}
