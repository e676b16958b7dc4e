/** Payment statuses of Read/Write v4.0 that this bank uses. */
export type PaymentStatus = 'RCVD' | 'PDNG' | 'ACTC' | 'ACSP' | 'ACSC' | 'ACCC' | 'RJCT';
/** What becomes of an order; decided when it arrives. */
export type Outcome = 'complete' | 'reject' | 'hold';

const dayMs = 86_400_000;
const paces: Record<Exclude<Outcome, 'hold'>, readonly PaymentStatus[]> = {
  complete: ['RCVD', 'ACSP', 'ACSC', 'ACCC'],
  reject: ['RCVD', 'ACTC', 'RJCT'],
};
const finals: ReadonlySet<PaymentStatus> = new Set(['ACCC', 'RJCT']);

/** How far an order has come: a step for every second of the bank's clock or every look a TPP takes, whichever is more. */
export function statusAt(outcome: Outcome, { elapsedMs, reads }: { elapsedMs: number; reads: number }): PaymentStatus {
  if (outcome === 'hold' && elapsedMs < dayMs) return 'PDNG';
  const pace = paces[outcome === 'hold' ? 'complete' : outcome];
  const step = Math.max(reads, Math.floor(elapsedMs / 1000));
  return pace[Math.min(step, pace.length - 1)] ?? 'RCVD';
}

export const isFinal = (status: PaymentStatus): boolean => finals.has(status);

/** The money leaves the account when the debtor's side is settled. */
export const isSettled = (status: PaymentStatus): boolean => status === 'ACSC' || status === 'ACCC';
