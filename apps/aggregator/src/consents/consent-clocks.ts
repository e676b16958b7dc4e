import type { Institution } from '#libs/connectors';
import { parseDateTime, type AccountRequest } from '#libs/contract';

const DAY_MS = 86_400_000;
/** No access to financial data goes on longer without its user, whatever the institution would allow (interface part 8). */
const ACCESS_DAYS_MAX = 90;

/** How many days access at an institution may last before its user confirms or authorises it again. */
export function accessDays({ maxConsentDays }: Pick<AccessRules, 'maxConsentDays'>): number {
  return Math.min(maxConsentDays, ACCESS_DAYS_MAX);
}

/** When a consent that is authorised at `at` ends at the latest; undefined where it only has to be confirmed again and again. */
export function latestEnd(rules: AccessRules, at: Date): Date | undefined {
  return rules.isLongLived ? undefined : reconfirmBy(at, accessDays(rules));
}

/** What an institution's data say of how long access lasts. */
export type AccessRules = Pick<Institution, 'maxConsentDays' | 'isLongLived'>;

/** The nearer of two ends; an absent one never comes. */
export function earliest(ours: Date | null, banks: Date | null | undefined): Date | null {
  if (ours === null || banks === null || banks === undefined) return ours ?? banks ?? null;
  return ours < banks ? ours : banks;
}

/** By when the user is to confirm an access that they authorised or confirmed at `at`, if that counts for `days`. */
export function reconfirmBy(at: Date, days: number): Date {
  return new Date(at.getTime() + days * DAY_MS);
}

/** When a consent ends that is authorised again at `at`: as asked if that is still ahead, and no later than allowed. */
export function renewedEnd({ expiresAt }: AccountRequest, at: Date, rules: AccessRules): Date | undefined {
  const latest = latestEnd(rules, at);
  const asked = expiresAt === undefined ? undefined : parseDateTime(expiresAt);
  return asked !== undefined && asked > at && (latest === undefined || asked < latest) ? asked : latest;
}
