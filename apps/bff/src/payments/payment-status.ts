/**
 * Where a payment stands. Up to the submission the states are those of its consent; afterwards they are the
 * interface's payment statuses, letter for letter. `CREATED` is the merchant's intent, stored before anybody is called.
 */
export const MerchantPaymentStatus = {
  CREATED: 'CREATED',
  AWAITING_AUTHORIZATION: 'AWAITING_AUTHORIZATION',
  AUTHORIZED: 'AUTHORIZED',
  REJECTED: 'REJECTED',
  PENDING: 'PENDING',
  COMPLETED: 'COMPLETED',
  COMPLETED_SETTLEMENT_IN_PROCESS: 'COMPLETED_SETTLEMENT_IN_PROCESS',
  FAILED: 'FAILED',
  DECLINED: 'DECLINED',
  EXPIRED: 'EXPIRED',
  UNKNOWN: 'UNKNOWN',
} as const;
export type MerchantPaymentStatus = (typeof MerchantPaymentStatus)[keyof typeof MerchantPaymentStatus];

type Status = MerchantPaymentStatus;
/** What a payment may be once the aggregator has it. */
export const submittedStatuses: readonly Status[] = [
  'PENDING',
  'UNKNOWN',
  'COMPLETED_SETTLEMENT_IN_PROCESS',
  'COMPLETED',
  'FAILED',
  'DECLINED',
  'EXPIRED',
];

const moves: Readonly<Record<Status, readonly Status[]>> = {
  CREATED: ['AWAITING_AUTHORIZATION', 'FAILED', 'EXPIRED'],
  AWAITING_AUTHORIZATION: ['AUTHORIZED', 'REJECTED', 'FAILED', 'EXPIRED'],
  AUTHORIZED: submittedStatuses,
  REJECTED: [],
  PENDING: ['UNKNOWN', 'COMPLETED_SETTLEMENT_IN_PROCESS', 'COMPLETED', 'FAILED', 'DECLINED', 'EXPIRED'],
  UNKNOWN: ['PENDING', 'COMPLETED_SETTLEMENT_IN_PROCESS', 'COMPLETED', 'FAILED', 'DECLINED', 'EXPIRED'],
  COMPLETED_SETTLEMENT_IN_PROCESS: ['COMPLETED', 'FAILED'],
  // Accepted by the bank for execution is not settled: a bank may still fail it.
  COMPLETED: ['FAILED'],
  FAILED: [],
  DECLINED: [],
  EXPIRED: [],
};

/** The states from which `to` may be reached; the condition of the compare-and-set. */
export function paymentSourcesOf(to: Status): Status[] {
  return Object.values(MerchantPaymentStatus).filter((from) => moves[from].includes(to));
}

/** Whether nothing more is expected, so that nobody needs to ask. */
export function isSettled(status: string): boolean {
  return status === 'COMPLETED' || (isMerchantPaymentStatus(status) && moves[status].length === 0);
}

/** Whether the aggregator may know the payment by an id. */
export function isSubmitted(status: string): boolean {
  return (submittedStatuses as readonly string[]).includes(status);
}

export function isMerchantPaymentStatus(text: string): text is Status {
  return Object.values<string>(MerchantPaymentStatus).includes(text);
}

/** The interface's payment status as ours; a value we do not know is UNKNOWN, never a guess. */
export function statusOfPayment(status: string | undefined): Status {
  return status !== undefined && (submittedStatuses as readonly string[]).includes(status)
    ? (status as Status)
    : 'UNKNOWN';
}

/** What the payment's consent says; undefined while nothing is decided. */
export function statusOfPaymentConsent(consent: {
  status?: string | undefined;
  consentToken?: string | undefined;
}): Status | undefined {
  switch (consent.status) {
    case 'AUTHORIZED':
    case 'CONSUMED':
      return consent.consentToken === undefined ? undefined : 'AUTHORIZED';
    case 'REJECTED':
    case 'REVOKED':
      return 'REJECTED';
    case 'FAILED':
    case 'INVALID':
      return 'FAILED';
    case 'EXPIRED':
      return 'EXPIRED';
    default:
      return undefined;
  }
}

/** Seconds until the next look at a payment: 2 s doubling up to an hour; webhooks usually come first. */
export function pollDelaySeconds(polls: number): number {
  return Math.min(2 * 2 ** Math.min(polls, 12), 3_600);
}

/** Banks that never leave PENDING exist; after three weeks of hourly looks nobody asks any more. */
export const pollsMax = 520;

/** How long a call may take to ask for an authorisation before another call with the same key may try. */
export const creationClaimMs = 30_000;

/** When the worker looks at a payment whose customer went to the bank and did not come back. */
export const firstPaymentLookMs = 5 * 60_000;

const patienceMs = 24 * 3_600_000;

/** Whether nothing but the merchant's intent exists. */
export function isIntent(status: string): boolean {
  return status === 'CREATED';
}

/** Whether the customer is at the bank, as far as we know. */
export function isAwaited(status: string): boolean {
  return status === 'AWAITING_AUTHORIZATION';
}

/** Whether it may be submitted now: authorised, and no answer to a submission recorded. */
export function isSubmittable(status: string): boolean {
  return status === 'AUTHORIZED';
}

/** Whether nobody waits any longer for the customer. */
export function isOutOfPatience(createdAt: Date, at: Date): boolean {
  return at.getTime() - createdAt.getTime() >= patienceMs;
}

/** What the customer reads when there is no page of the merchant's to return to. */
export function paymentSentenceOf(status: string): string {
  if (status === 'REJECTED') return 'You did not approve the payment.';
  if (status === 'FAILED' || status === 'DECLINED' || status === 'EXPIRED') return 'The payment was not made.';
  return status === 'COMPLETED' ? 'Your payment has been made.' : 'Your payment is on its way.';
}

/** While the callback submits, the worker leaves the payment alone. */
export const submissionClaimMs = 45_000;

/**
 * Whether an answer to a submission is a plain no. Whatever may hide an accepted payment (timeouts, 5xx, 409, 429) is not:
 * the same id is sent again, and the aggregator answers with what it has.
 */
export function isFinalRefusal(answer: {
  status?: number | undefined;
  institutionStatus?: number | undefined;
}): boolean {
  const { status, institutionStatus } = answer;
  if (status === 424)
    return (
      institutionStatus !== undefined &&
      institutionStatus >= 400 &&
      institutionStatus < 500 &&
      institutionStatus !== 429
    );
  return status === 400 || status === 403 || status === 404;
}
