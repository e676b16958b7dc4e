import type { PaymentRequest, PaymentResponse } from '#libs/contract';
import type { BankPayment } from '#libs/connectors';
import type { PaymentRow } from './payment.queries.js';

/**
 * A payment as the interface shows it: what was asked, and what the bank last said. Its id is the institution's; until
 * the institution has given one it is ours, which goes on finding the payment.
 */
export function toPayment(row: PaymentRow, request: PaymentRequest, bank: BankPayment | undefined): PaymentResponse {
  const { amount, currency } = request.amount;
  return {
    id: row.institutionPaymentId ?? row.id,
    ...(bank === undefined ? {} : { institutionConsentId: bank.institutionConsentId }),
    paymentIdempotencyId: row.paymentIdempotencyId,
    paymentLifecycleId: row.paymentLifecycleId,
    status: row.status,
    statusDetails: { ...bank?.statusDetails, status: row.status },
    ...(request.payer === undefined ? {} : { payer: request.payer }),
    payeeDetails: request.payee,
    ...(request.reference === undefined ? {} : { reference: request.reference }),
    amount,
    currency,
    amountDetails: { amount, currency },
    createdAt: bank?.createdAt ?? row.createdAt.toISOString(),
    ...(bank?.chargeDetails === undefined ? {} : { chargeDetails: bank.chargeDetails }),
    ...(bank?.refundAccount === undefined ? {} : { refundAccount: bank.refundAccount }),
  };
}
