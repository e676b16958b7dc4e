import type { Payment } from './views.js';

const statuses: Readonly<Record<Payment['status'], string>> = {
  CREATED: 'being prepared',
  AWAITING_AUTHORIZATION: 'waiting for you at the bank',
  AUTHORIZED: 'allowed, being sent',
  REJECTED: 'not allowed',
  PENDING: 'with the bank',
  COMPLETED: 'made',
  COMPLETED_SETTLEMENT_IN_PROCESS: 'made, being settled',
  FAILED: 'failed',
  DECLINED: 'declined by the bank',
  EXPIRED: 'expired',
  UNKNOWN: 'not known yet, being asked for',
};

/** Where a payment stands, in words; a status that is new by its name. */
export function paymentStatus(status: Payment['status']): string {
  return statuses[status] ?? status.toLowerCase().replaceAll('_', ' ');
}

const good: ReadonlySet<string> = new Set(['COMPLETED', 'COMPLETED_SETTLEMENT_IN_PROCESS']);
const bad: ReadonlySet<string> = new Set(['REJECTED', 'FAILED', 'DECLINED', 'EXPIRED']);

/** How a payment is going: well, badly, or not decided. */
export function paymentTone(status: Payment['status']): 'good' | 'bad' | 'open' {
  if (good.has(status)) return 'good';
  return bad.has(status) ? 'bad' : 'open';
}
