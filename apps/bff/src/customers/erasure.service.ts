import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { type AggregatorClient, ClientError } from '#libs/client';
import { POOL, transaction } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { ConnectionStatus, isConnectionStatus, isRevocable } from '../connections/connection-state.js';
import { moveConnection } from '../connections/connections.queries.js';
import { isSettled, isSubmitted } from '../payments/payment-status.js';
import { CustomerStatus } from './customer-state.js';
import { eraseRows, type Traces } from './erasure.queries.js';
import { InboundTraces } from './inbound-traces.js';

const retryMs = 60_000;
/** How long a payment that was sent to a bank is waited for, so that its record tells how it ended. */
const paymentPatienceMs = 24 * 3_600_000;

interface ConnectionRow {
  id: string;
  status: string;
  consent_id: string | null;
}

interface PaymentRow {
  id: string;
  status: string;
  consent_id: string | null;
  submitted_at: Date | null;
  payment_idempotency_id: string;
  aggregator_payment_id: string | null;
}

/**
 * Deletes customers. First what others hold: consents at the banks, then the user at the aggregator. Then every row here. Each step
 * may be repeated, so a deletion that was interrupted anywhere is simply begun again.
 */
@Injectable()
export class ErasureService {
  private readonly log = createLogger('customers');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly inbound: InboundTraces,
  ) {}

  /** Takes the deletion as far as it goes now; what is left is due again. */
  async run(customerId: string): Promise<void> {
    let ended = false;
    try {
      ended = await this.erase(customerId);
    } finally {
      if (!ended) {
        const next = new Date(now().getTime() + retryMs);
        const text = 'update customers set next_erasure_at = $2, erasure_lease_until = null where id = $1';
        await this.pool.query(text, [customerId, next]);
      }
    }
  }

  private async erase(customerId: string): Promise<boolean> {
    const { rows } = await this.pool.query<{ merchant_id: string }>(
      'select merchant_id from customers where id = $1 and status = $2',
      [customerId, CustomerStatus.deleting],
    );
    const merchantId = rows[0]?.merchant_id;
    if (merchantId === undefined) return true;
    const application = await this.aggregator.of(merchantId);
    const connections = await this.revokeConnections(application, customerId);
    const payments = await this.endPayments(application, customerId);
    if (payments.some(isAwaited)) return false;
    for (const { uuid } of await application.getUsers([customerId])) {
      if (uuid !== undefined) await unlessGone(application.deleteUser(uuid));
    }
    const traces = tracesOf({ customerId, merchantId, connections, payments });
    const inboundIds = await this.inbound.about(merchantId, traces.marks);
    await transaction(this.pool, (tx) => eraseRows(tx, { ...traces, inboundIds }));
    this.log.info({ merchantId }, 'a customer was deleted');
    return true;
  }

  /** Withdraws each consent at the aggregator, and so at the bank, before the row that knows it goes. */
  private async revokeConnections(application: AggregatorClient, customerId: string): Promise<ConnectionRow[]> {
    const { rows } = await this.pool.query<ConnectionRow>(
      'select id, status, consent_id from connections where customer_id = $1',
      [customerId],
    );
    for (const { id, status, consent_id: consentId } of rows) {
      if (!isConnectionStatus(status) || !isRevocable(status)) continue;
      if (consentId !== null) await unlessGone(application.delete(consentId));
      const columns = { sealed_consent_token: null, next_sync_at: null };
      const move = { id, to: ConnectionStatus.revoked, reason: 'customer-deleted', columns };
      await transaction(this.pool, (tx) => moveConnection(tx, move));
    }
    return rows;
  }

  /** What was never sent to a bank is never sent any more. */
  private async endPayments(application: AggregatorClient, customerId: string): Promise<PaymentRow[]> {
    const { rows } = await this.pool.query<PaymentRow>(
      `select id, status, consent_id, submitted_at, payment_idempotency_id, aggregator_payment_id
       from payments where customer_id = $1`,
      [customerId],
    );
    for (const { status, consent_id: consentId, submitted_at: submittedAt } of rows) {
      if (consentId !== null && submittedAt === null && !isSubmitted(status) && !isSettled(status)) {
        await unlessGone(application.delete(consentId));
      }
    }
    return rows;
  }
}

/** Whether the bank has it and has not said how it ended. */
function isAwaited({ status, submitted_at: submittedAt }: PaymentRow): boolean {
  if (!isSubmitted(status) || isSettled(status) || submittedAt === null) return false;
  return submittedAt.getTime() + paymentPatienceMs > now().getTime();
}

async function unlessGone(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!(error instanceof ClientError && error.status === 404)) throw error;
  });
}

interface Found {
  customerId: string;
  merchantId: string;
  connections: readonly ConnectionRow[];
  payments: readonly PaymentRow[];
}

function tracesOf({ customerId, merchantId, connections, payments }: Found): Omit<Traces, 'inboundIds'> {
  const ofPayments = payments.flatMap((payment) => [
    payment.id,
    payment.consent_id,
    payment.payment_idempotency_id,
    payment.aggregator_payment_id,
  ]);
  const ofConnections = connections.flatMap(({ id, consent_id: consentId }) => [id, consentId]);
  const marks = [customerId, ...ofConnections, ...ofPayments].filter((mark) => mark !== null);
  return { customerId, merchantId, connectionIds: connections.map(({ id }) => id), marks };
}
