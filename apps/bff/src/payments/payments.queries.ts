import type { PoolClient } from 'pg';
import { fromMinor } from '#libs/contract';
import { appendEvent, type NewEvent } from '../events/event-log.js';
import type { PaymentView } from './payment.dto.js';
import { isMerchantPaymentStatus, type MerchantPaymentStatus, paymentSourcesOf } from './payment-status.js';

/** A payment as it is stored. */
export interface PaymentRow {
  id: string;
  customer_id: string;
  merchant_id: string;
  connection_id: string | null;
  institution_id: string;
  request_hash: string;
  status: string;
  reason: string | null;
  amount_minor: string;
  currency: string;
  reference: string | null;
  sealed_request: string;
  consent_id: string | null;
  sealed_consent_token: string | null;
  return_url: string | null;
  authorisation_url: string | null;
  aggregator_payment_id: string | null;
  iso_status: string | null;
  created_at: Date;
  sending_at: Date | null;
  submitted_at: Date | null;
  completed_at: Date | null;
  state_used_at: Date | null;
  polls: number;
}

/** Columns that a move may set besides the status. */
export interface PaymentColumns {
  consent_id?: string;
  authorisation_url?: string;
  sealed_consent_token?: string;
  aggregator_payment_id?: string;
  iso_status?: string | null;
  submitted_at?: Date;
  completed_at?: Date;
  next_poll_at?: Date | null;
  state_used_at?: Date | null;
  polls?: number;
}

export interface PaymentMove {
  id: string;
  to: MerchantPaymentStatus;
  reason?: string;
  columns?: PaymentColumns;
  /** Only while it has not been given to the aggregator. */
  isUnsent?: true;
}

const typeOf: Partial<Record<MerchantPaymentStatus, NewEvent['type']>> = {
  COMPLETED: 'payment.completed',
  FAILED: 'payment.failed',
};

/**
 * Moves a payment by compare-and-set along its legal graph and tells the merchant's log, in the caller's transaction.
 * Answers false when it is in no state that may become `to`: a webhook and a poll may race, one of them wins.
 */
export async function movePayment(
  client: PoolClient,
  { id, to, reason, columns = {}, isUnsent }: PaymentMove,
): Promise<boolean> {
  const set: Record<string, unknown> = { status: to, reason: reason ?? null, ...columns };
  const names = Object.keys(set);
  const { rows } = await client.query<{ merchant_id: string; customer_id: string }>(
    `update payments set ${names.map((name, index) => `${name} = $${index + 3}`).join(', ')}
     where id = $1 and status = any($2) ${isUnsent ? 'and sending_at is null and submitted_at is null' : ''}
     returning merchant_id, customer_id`,
    [id, paymentSourcesOf(to), ...Object.values(set)],
  );
  const moved = rows[0];
  if (!moved) return false;
  await appendEvent(client, {
    merchantId: moved.merchant_id,
    customerId: moved.customer_id,
    type: typeOf[to] ?? 'payment.updated',
    data: { paymentId: id, status: to, reason: reason ?? null },
  });
  return true;
}

export function toPaymentView(row: PaymentRow): PaymentView {
  if (!isMerchantPaymentStatus(row.status)) throw new Error(`Payment ${row.id} has an unknown status`);
  const waiting = row.authorisation_url !== null && row.sealed_consent_token === null;
  return {
    id: row.id,
    institutionId: row.institution_id,
    ...(row.connection_id === null ? {} : { connectionId: row.connection_id }),
    status: row.status,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.iso_status === null ? {} : { isoStatus: row.iso_status }),
    amount: fromMinor(BigInt(row.amount_minor), row.currency),
    currency: row.currency,
    ...(row.reference === null ? {} : { reference: row.reference }),
    ...(waiting && row.authorisation_url !== null ? { authorisationUrl: row.authorisation_url } : {}),
    createdAt: row.created_at.toISOString(),
    ...(row.submitted_at === null ? {} : { submittedAt: row.submitted_at.toISOString() }),
    ...(row.completed_at === null ? {} : { completedAt: row.completed_at.toISOString() }),
  };
}
