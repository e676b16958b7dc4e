import type { PaymentStatus } from '#libs/contract';
import type { Queryable } from '../consents/consent.queries.js';

/** A payment as it is stored. */
export interface PaymentRow {
  id: string;
  applicationId: string;
  consentId: string;
  institutionId: string;
  institutionPaymentId: string | null;
  paymentIdempotencyId: string;
  paymentLifecycleId: string;
  status: PaymentStatus;
  isoStatus: string | null;
  requestFingerprint: string;
  sealedRequest: string;
  sealedResponse: string | null;
  createdAt: Date;
  updatedAt: Date;
  nextPollAt: Date | null;
  pollAttempts: number;
}

/** What a payment starts with: recorded, in the hands of the process that is about to send it. */
export type NewPayment = Pick<
  PaymentRow,
  | 'id'
  | 'applicationId'
  | 'consentId'
  | 'institutionId'
  | 'paymentIdempotencyId'
  | 'paymentLifecycleId'
  | 'status'
  | 'requestFingerprint'
  | 'sealedRequest'
  | 'createdAt'
> & { nextPollAt: Date; leaseUntil: Date };

const COLUMNS = `
  id, application_id AS "applicationId", consent_id AS "consentId", institution_id AS "institutionId",
  institution_payment_id AS "institutionPaymentId", payment_idempotency_id AS "paymentIdempotencyId",
  payment_lifecycle_id AS "paymentLifecycleId", status, iso_status AS "isoStatus",
  request_fingerprint AS "requestFingerprint", sealed_request AS "sealedRequest", sealed_response AS "sealedResponse",
  created_at AS "createdAt", updated_at AS "updatedAt", next_poll_at AS "nextPollAt", poll_attempts AS "pollAttempts"`;

/** Writes a new payment; called in the transaction that consumes its consent. */
export async function insertPayment(tx: Queryable, payment: NewPayment): Promise<void> {
  await tx.query(
    `INSERT INTO payments (id, application_id, consent_id, institution_id, payment_idempotency_id, payment_lifecycle_id,
                           status, request_fingerprint, sealed_request, created_at, updated_at, next_poll_at, lease_until)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12)`,
    [
      payment.id,
      payment.applicationId,
      payment.consentId,
      payment.institutionId,
      payment.paymentIdempotencyId,
      payment.paymentLifecycleId,
      payment.status,
      payment.requestFingerprint,
      payment.sealedRequest,
      payment.createdAt,
      payment.nextPollAt,
      payment.leaseUntil,
    ],
  );
}

/** The payment of a consent that was made under this idempotency id. */
export async function findByIdempotencyId(
  db: Queryable,
  consentId: string,
  paymentIdempotencyId: string,
): Promise<PaymentRow | undefined> {
  const { rows } = await db.query<PaymentRow>(
    `SELECT ${COLUMNS} FROM payments WHERE consent_id = $1 AND payment_idempotency_id = $2`,
    [consentId, paymentIdempotencyId],
  );
  return rows[0];
}

/** A payment of a consent by any name the caller may know it by: the institution's id, ours, or the lifecycle id. */
export async function findByAnyId(
  db: Queryable,
  consentId: string,
  paymentId: string,
): Promise<PaymentRow | undefined> {
  const { rows } = await db.query<PaymentRow>(
    `SELECT ${COLUMNS} FROM payments
      WHERE consent_id = $1 AND (institution_payment_id = $2 OR id::text = $2 OR payment_lifecycle_id = $2)`,
    [consentId, paymentId],
  );
  return rows[0];
}

/** Payments that are due for a look at the bank, the longest overdue first. */
export async function duePayments(
  db: Queryable,
  at: Date,
  limit: number,
): Promise<{ id: string; pollAttempts: number }[]> {
  const { rows } = await db.query<{ id: string; pollAttempts: number }>(
    `SELECT id, poll_attempts AS "pollAttempts" FROM payments
      WHERE next_poll_at <= $1 AND (lease_until IS NULL OR lease_until <= $1) ORDER BY next_poll_at LIMIT $2`,
    [at, limit],
  );
  return rows;
}

/**
 * Takes an open payment in hand until `until`, if it is due, or was last looked at before `unseenSince`. Undefined when
 * there is nothing to do or another process has it.
 */
export async function claimPayment(
  db: Queryable,
  id: string,
  { at, until, unseenSince }: { at: Date; until: Date; unseenSince?: Date },
): Promise<PaymentRow | undefined> {
  const { rows } = await db.query<PaymentRow>(
    `UPDATE payments SET lease_until = $3
      WHERE id = $1 AND next_poll_at IS NOT NULL AND (next_poll_at <= $2 OR updated_at <= $4::timestamptz)
        AND (lease_until IS NULL OR lease_until <= $2)
      RETURNING ${COLUMNS}`,
    [id, at, until, unseenSince ?? null],
  );
  return rows[0];
}

/** The payment, locked until the transaction ends. */
export async function lockPayment(tx: Queryable, id: string): Promise<PaymentRow | undefined> {
  const { rows } = await tx.query<PaymentRow>(`SELECT ${COLUMNS} FROM payments WHERE id = $1 FOR UPDATE`, [id]);
  return rows[0];
}

/** What a look at the bank changed; members that stay are given as they were. */
export type PaymentProgress = Pick<
  PaymentRow,
  'id' | 'status' | 'isoStatus' | 'institutionPaymentId' | 'sealedResponse' | 'nextPollAt' | 'pollAttempts'
> & { from: PaymentStatus; at: Date };

/** Writes progress and gives the payment back. A compare-and-set on the status it was computed from. */
export async function writeProgress(tx: Queryable, progress: PaymentProgress): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE payments SET status = $3, iso_status = $4, institution_payment_id = $5, sealed_response = $6,
                         next_poll_at = $7, poll_attempts = $8, updated_at = $9, lease_until = NULL
      WHERE id = $1 AND status = $2`,
    [
      progress.id,
      progress.from,
      progress.status,
      progress.isoStatus,
      progress.institutionPaymentId,
      progress.sealedResponse,
      progress.nextPollAt,
      progress.pollAttempts,
      progress.at,
    ],
  );
  return rowCount === 1;
}
