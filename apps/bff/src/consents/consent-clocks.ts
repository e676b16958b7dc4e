import type { ConsentRule } from './consent-rules.js';

export const dayMs = 86_400_000;

/** Data are called stopped this long before the last instant, so that no call of ours crosses it. */
export const safetyMarginMs = 5 * 60_000;

/** Why data will stop; the same name is the connection's reason once they have. */
export const StopCause = {
  /** The consent ends at the bank. */
  consentExpiry: 'consent-expiry',
  /** The last strong authentication counts no longer. */
  scaAge: 'sca-age',
  /** The customer has to confirm, to us, that access may go on. */
  reconfirmation: 'reconfirmation',
} as const;
export type StopCause = (typeof StopCause)[keyof typeof StopCause];

/** What a consent says of its own time. */
export interface ConsentDates {
  authorisedAt: Date | null;
  expiresAt: Date | null;
  reconfirmBy: Date | null;
}

/** One of the three clocks, and the last instant it allows. */
export interface Clock {
  cause: StopCause;
  at: Date;
}

/** When the last strong authentication counts no longer; null where the bank asks only once. */
export function scaUntil(authorisedAt: Date | null, { scaDays }: ConsentRule): Date | null {
  return authorisedAt === null || scaDays === undefined ? null : new Date(authorisedAt.getTime() + scaDays * dayMs);
}

/**
 * The clocks that run, the nearest first. A confirmation that the law does not let the customer give to us is an end like
 * the bank's own: only a new authorisation helps.
 */
export function runningClocks(
  dates: ConsentDates & { scaUntil: Date | null },
  { isReconfirmable }: Pick<ConsentRule, 'isReconfirmable'>,
): Clock[] {
  const ends = isReconfirmable ? [dates.expiresAt] : [dates.expiresAt, dates.reconfirmBy];
  const clocks = [
    { cause: StopCause.consentExpiry, at: nearest(ends) },
    { cause: StopCause.scaAge, at: dates.scaUntil },
    { cause: StopCause.reconfirmation, at: isReconfirmable ? dates.reconfirmBy : null },
  ];
  return clocks
    .flatMap(({ cause, at }) => (at === null ? [] : [{ cause, at }]))
    .toSorted((one, other) => one.at.getTime() - other.at.getTime());
}

/**
 * When data stop and why: the nearest clock less the margin, of a consent shorter than most a tenth of its life. Nothing
 * when no clock runs.
 */
export function stopOf([first]: readonly Clock[], authorisedAt: Date | null): Clock | undefined {
  if (!first) return undefined;
  const life = authorisedAt === null ? Infinity : Math.max(0, first.at.getTime() - authorisedAt.getTime());
  return { cause: first.cause, at: new Date(first.at.getTime() - Math.min(safetyMarginMs, Math.floor(life / 10))) };
}

/** Whether data count as stopped: from the very instant on. */
export function hasStopped(stopsAt: Date | null, at: Date): boolean {
  return stopsAt !== null && at >= stopsAt;
}

/** Whole days that are left, counting one that has begun; 0 when data have stopped. */
export function daysLeft(stopsAt: Date, at: Date): number {
  return Math.max(0, Math.ceil((stopsAt.getTime() - at.getTime()) / dayMs));
}

function nearest(instants: readonly (Date | null)[]): Date | null {
  const given = instants.flatMap((instant) => (instant === null ? [] : [instant.getTime()]));
  return given.length === 0 ? null : new Date(Math.min(...given));
}
