import { dayMs } from './consent-clocks.js';

/** So many days before data stop the merchant is told; 0 is the moment itself. */
export const noticeDays = [30, 14, 7, 1, 0] as const;

/** A drift of the end below this is the same end: a bank rounds, and a clock is read twice. */
const sameEndMs = 3_600_000;

/** What is planned: when to tell next, and how many days before the end the last notice was. */
export interface NoticePlan {
  nextNoticeAt: Date | null;
  noticedDays: number | null;
}

/** The plan for a new end, known since `at`: what would have been told before that is not told afterwards. */
export function planNotices(stopsAt: Date | null, at: Date): NoticePlan {
  if (stopsAt === null) return { nextNoticeAt: null, noticedDays: null };
  const due = noticeDays.map((days) => before(stopsAt, days)).find((instant) => instant >= at);
  return { nextNoticeAt: due ?? stopsAt, noticedDays: null };
}

/**
 * The plan when the end has been read again. The same end keeps its plan; a later one is a new end; a sooner one within the
 * first notice's reach is told at once.
 */
export function replanNotices(
  { stopsAt: was, ...plan }: NoticePlan & { stopsAt: Date | null },
  stopsAt: Date | null,
  at: Date,
): NoticePlan {
  if (stopsAt === null || was === null || plan.nextNoticeAt === null) return planNotices(stopsAt, at);
  const drift = stopsAt.getTime() - was.getTime();
  if (Math.abs(drift) < sameEndMs) {
    return { ...plan, nextNoticeAt: new Date(plan.nextNoticeAt.getTime() + drift) };
  }
  const isSooner = drift < 0 && before(stopsAt, noticeDays[0]) <= at;
  return isSooner ? { nextNoticeAt: at, noticedDays: null } : planNotices(stopsAt, at);
}

/**
 * What is to be told now, and the plan after it. After a standstill the notices that were missed collapse to the one that
 * is true now; `days` is undefined when that one has been told already.
 */
export function takeNotice(
  stopsAt: Date,
  noticedDays: number | null,
  at: Date,
): { days: number | undefined; plan: NoticePlan } {
  const days = noticeDays.findLast((each) => before(stopsAt, each) <= at);
  const next = noticeDays.map((each) => before(stopsAt, each)).find((instant) => instant > at);
  const isNew = days !== undefined && (noticedDays === null || days < noticedDays);
  return {
    days: isNew ? days : undefined,
    plan: { nextNoticeAt: next ?? null, noticedDays: isNew ? days : noticedDays },
  };
}

function before(stopsAt: Date, days: number): Date {
  return new Date(stopsAt.getTime() - days * dayMs);
}
