/** How far back a reading of transactions goes: everything, or what may be new since the last one. */
export type Reading = { kind: 'whole'; stage: Stage } | { kind: 'recent'; from: Date };

/** Institutions give long histories in the minutes after the customer's authentication, and shorter ones later. */
export type Stage = 'fresh' | 'later';

/** What is known of how far back an institution goes at a stage. */
export interface Reach {
  /** Days that it gave. */
  days: number | null;
  /** The fewest days that it refused. */
  refusedDays: number | null;
}

const dayMs = 24 * 3_600_000;
/** Rows are booked days late; this much is read again each time, and more where an institution was later than that. */
export const overlapDaysDefault = 14;
const overlapMarginDays = 3;
const auditEveryMs = 7 * dayMs;
/** Institutions that cut histories off begin to do so five minutes after the authentication. */
const freshMs = 5 * 60_000;

/** Where the history of an account stands, and what it is read for. */
export interface Standing {
  authorisedAt: Date | null;
  readAt: Date | null;
  auditedAt: Date | null;
  overlapDays: number | null;
  /** The customer waits for what is new: an audit can wait. */
  attended: boolean;
}

/**
 * What to ask for. The whole history the first time, after every new authentication, and once a week, because rows also
 * change or appear where no overlap looks; otherwise the whole gap since the last success, and the overlap before it.
 */
export function planReading({ authorisedAt, readAt, auditedAt, overlapDays, attended }: Standing, at: Date): Reading {
  const fresh = authorisedAt !== null && at.getTime() - authorisedAt.getTime() < freshMs;
  const stage = fresh ? 'fresh' : 'later';
  const renewed = fresh && (auditedAt === null || auditedAt < authorisedAt);
  const auditDue = auditedAt === null || at.getTime() - auditedAt.getTime() >= auditEveryMs;
  if (readAt === null || renewed || (auditDue && !attended)) return { kind: 'whole', stage };
  return { kind: 'recent', from: new Date(readAt.getTime() - (overlapDays ?? overlapDaysDefault) * dayMs) };
}

/** How many days of overlap an institution needs whose rows came up to `lateDays` late. */
export function overlapFor(lateDays: number): number {
  return Math.max(overlapDaysDefault, Math.ceil(lateDays) + overlapMarginDays);
}

const ladder = [365, 90, 30] as const;
const shortestDays = 7;

/**
 * The depths to ask for, in days, deepest first; null is everything. What was refused before is not asked for again. Never more
 * tries than the calls of a day.
 */
export function depths({ days, refusedDays }: Reach): (number | null)[] {
  if (refusedDays === null) return [null, ...ladder];
  const steps = new Set(days === null ? ladder : [...ladder, days]);
  const known = [...steps].filter((depth) => depth < refusedDays).toSorted((one, other) => other - one);
  // Whatever was refused, there is always something left to ask for.
  return known.length > 0 ? known : [Math.max(1, Math.min(refusedDays - 1, shortestDays))];
}

/** More days than any history has: how a refusal of the whole is remembered. */
export const wholeDays = 36_500;

/** The day at which a depth begins. */
export function fromOf(depth: number | null, at: Date): Date | null {
  return depth === null ? null : new Date(at.getTime() - depth * dayMs);
}
