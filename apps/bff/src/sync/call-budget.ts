/** What an institution counts calls of: the list of accounts per consent, the others per account. */
export const SyncScope = { accounts: 'accounts', balances: 'balances', transactions: 'transactions' } as const;
export type SyncScope = (typeof SyncScope)[keyof typeof SyncScope];

/** The unattended calls of one scope that still count, and what the institution itself has said. */
export interface Budget {
  /** Oldest first. */
  calls: readonly Date[];
  blockedUntil: Date | null;
  perDay: number;
}

/** Unattended calls a day that every institution has to allow (RTS on SCA, article 36(5)(b)). */
export const callsPerDayDefault = 4;

const dayMs = 24 * 3_600_000;
/** Clocks differ, and a call takes its time: a day here is a little longer than the institution's. */
const marginMs = 60_000;
const windowMs = dayMs + marginMs;

/** The calls that an institution may still be counting at `at`. */
export function counted(calls: readonly Date[], at: Date): Date[] {
  return calls.filter((call) => call.getTime() + windowMs > at.getTime()).toSorted((one, other) => +one - +other);
}

/** The earliest instant, `at` or later, at which an unattended call is within the budget. Read before calling. */
export function nextPossibleAt({ calls, blockedUntil, perDay }: Budget, at: Date): Date {
  const recent = counted(calls, at);
  const freed = recent.length < perDay ? undefined : recent[recent.length - perDay];
  return latest(at, blockedUntil ?? at, freed === undefined ? at : new Date(freed.getTime() + windowMs));
}

/**
 * When to read again after a success at `at`. Data are the freshest when the calls of a day are spread evenly, so that is
 * when, unless the budget says later. `jitter` (0 to 1) moves it a little, so that a million accounts do not meet.
 */
export function nextReadingAt(budget: Budget, at: Date, jitter: number): Date {
  const everyMs = windowMs / Math.min(budget.perDay, callsPerDayDefault);
  const spread = new Date(at.getTime() + everyMs * (1 + jitterShare * jitter));
  return latest(spread, nextPossibleAt(budget, at));
}

/** Of the time between two readings: little enough that data age within a tenth of the least that is possible. */
const jitterShare = 0.04;

const backoffSeconds = [30, 120, 600, 1_800, 3_600, 21_600] as const;

/**
 * When to try again after the `failures`-th bad end in a row at `at`. The last call of a day is kept until the day is a
 * quarter older: an institution that comes back after an hour must not find the day's calls spent on its outage.
 */
export function nextRetryAt(budget: Budget, at: Date, failures: number, waitSeconds = 0): Date {
  const backoff = backoffSeconds[Math.min(failures, backoffSeconds.length) - 1] ?? 21_600;
  const left = budget.perDay - counted(budget.calls, at).length;
  const keptMs = left === 1 ? windowMs / 4 : 0;
  const own = new Date(at.getTime() + Math.max(backoff * 1000, Math.min(waitSeconds, waitSecondsMax) * 1000, keptMs));
  return latest(own, nextPossibleAt(budget, at));
}

const waitSecondsMax = 86_400;
const waitSecondsDefault = 3_600;

/**
 * How long an institution that answered 429 is left alone: what it says, survived when that is absent, nothing, negative or
 * longer than a day.
 */
export function waitAfterRefusal(retryAfterSeconds: number | undefined): number {
  if (retryAfterSeconds === undefined || !(retryAfterSeconds > 0)) return waitSecondsDefault;
  return Math.min(retryAfterSeconds, waitSecondsMax);
}

/** A number from 0 to 1 that belongs to the text: the same for ever, evenly spread over many texts (FNV-1a). */
export function jitterOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0) / 0xffffffff;
}

function latest(...instants: readonly Date[]): Date {
  return new Date(Math.max(...instants.map(Number)));
}
