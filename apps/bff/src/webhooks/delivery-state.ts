import { isAccepted, type Outcome } from '#libs/server';

/** `pending` is due or will be, `delivered` was taken with a 2xx, `dead` was given up and can be replayed. */
export const DeliveryStatus = { pending: 'pending', delivered: 'delivered', dead: 'dead' } as const;
export type DeliveryStatus = (typeof DeliveryStatus)[keyof typeof DeliveryStatus];

/** Seconds between the attempts, as the Standard Webhooks specification suggests: more than three days in all. */
export const retrySeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;
const jitter = 0.2;
const retryAfterMaxMs = 24 * 3_600_000;

/** What becomes of a delivery. */
export interface Verdict {
  status: DeliveryStatus;
  /** Milliseconds until the next attempt; absent when there is none. */
  waitMs?: number;
  /** The receiver says that it wants no more. */
  isGone: boolean;
}

/**
 * After attempt number `attempts`. The wait is spread by a fifth, so that what failed together does not come back
 * together, and a receiver that names a time is left alone for so long, up to a day. `random` is between 0 and 1.
 */
export function judge(outcome: Outcome, attempts: number, random: number): Verdict {
  if (isAccepted(outcome)) return { status: DeliveryStatus.delivered, isGone: false };
  const isGone = 'httpStatus' in outcome && outcome.httpStatus === 410;
  const seconds = retrySeconds[attempts - 1];
  if (isGone || seconds === undefined) return { status: DeliveryStatus.dead, isGone };
  const asked = 'retryAfterMs' in outcome ? Math.min(outcome.retryAfterMs ?? 0, retryAfterMaxMs) : 0;
  const waitMs = Math.max(Math.round(seconds * 1_000 * (1 + jitter * random)), asked);
  return { status: DeliveryStatus.pending, waitMs, isGone };
}
