import type { AccountAuthorisationResponse } from '#libs/contract';
import { elsewhereLookMs, firstLookMs } from './connection-state.js';

/** A consent that the aggregator has asked a bank for. */
export interface AskedConsent {
  id: string;
  /** Where the customer goes; null where they confirm on a device of theirs (decoupled). */
  authorisationUrl: string | null;
  /** How long to wait before the first look at it, in milliseconds. */
  lookMs: number;
}

/** Reads the aggregator's answer; one that tells neither where the customer goes nor that they go nowhere is a fault of its own. */
export function askedConsent({ id, authorisationUrl, status }: AccountAuthorisationResponse): AskedConsent {
  const isElsewhere = authorisationUrl === undefined && status === 'AWAITING_DECOUPLED_AUTHORIZATION';
  if (id === undefined || (authorisationUrl === undefined && !isElsewhere))
    throw new Error('The aggregator answered without an address');
  return { id, authorisationUrl: authorisationUrl ?? null, lookMs: isElsewhere ? elsewhereLookMs : firstLookMs };
}
