import { parseDateTime, type AccountRequest } from '#libs/contract';

const DAY_MS = 86_400_000;
/** No consent for financial data lasts longer, whatever its institution would allow (interface part 8). */
const ACCESS_DAYS_MAX = 90;

/** How many days access at an institution may last before its user confirms or authorises it again. */
export function accessDays({ maxConsentDays }: { maxConsentDays: number }): number {
  return Math.min(maxConsentDays, ACCESS_DAYS_MAX);
}

/** The nearer of two ends; an absent one never comes. */
export function earliest(ours: Date | null, banks: Date | null | undefined): Date | null {
  if (ours === null || banks === null || banks === undefined) return ours ?? banks ?? null;
  return ours < banks ? ours : banks;
}

/** `days` after `at`: how long access may last, and by when the user is to confirm it. */
export function reconfirmBy(at: Date, days: number): Date {
  return new Date(at.getTime() + days * DAY_MS);
}

/** When a consent ends that is authorised again at `at`: as asked if that is still ahead, and no later than allowed. */
export function renewedEnd({ expiresAt }: AccountRequest, at: Date, maxDays: number): Date {
  const latest = reconfirmBy(at, maxDays);
  const asked = expiresAt === undefined ? undefined : parseDateTime(expiresAt);
  return asked !== undefined && asked > at && asked < latest ? asked : latest;
}
