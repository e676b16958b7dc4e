/** Waits before the next look at the bank, in seconds: the first soon after the payment, the last one for ever after. */
const WAITS = [1, 1, 2, 3, 5, 10, 30, 60, 300, 900, 3_600, 21_600];
const DAY_MS = 86_400_000;
/** Some banks never say the last word; after this age nobody waits for it any more. */
const GIVE_UP_MS = 28 * DAY_MS;

/**
 * When to look again after `attempts` looks, no sooner than the bank asked for; null when the payment, made at
 * `createdAt`, is too old to be worth it.
 */
export function nextPollAt(payment: { createdAt: Date; attempts: number }, at: Date, retryAfterMs = 0): Date | null {
  if (at.getTime() - payment.createdAt.getTime() > GIVE_UP_MS) return null;
  const wait = (WAITS[Math.min(payment.attempts, WAITS.length - 1)] ?? 0) * 1_000;
  return new Date(at.getTime() + Math.max(wait, Math.min(retryAfterMs, DAY_MS)));
}
