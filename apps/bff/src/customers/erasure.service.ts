import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { type AggregatorClient, ClientError } from '#libs/client';
import { POOL, transaction } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { Env } from '../config.js';
import { Withdrawals } from '../consents/withdrawals.service.js';
import { isSettled, MerchantPaymentStatus } from '../payments/payment-status.js';
import { movePayment } from '../payments/payments.queries.js';
import { CustomerStatus } from './customer-state.js';
import { nextAttemptAt } from './deletion-schedule.js';
import { endConnections, isOpen, outcomeOf, type WithdrawalRow, withdrawalsOf } from './ended-consents.js';
import { completeDeletion, eraseRows, takenBack, type Traces } from './erasure.queries.js';
import { InboundTraces } from './inbound-traces.js';

/** How often a payment on its way is looked at. */
const paymentLookMs = 60_000;
/** How long a payment that was sent to a bank is waited for, so that its record tells how it ended. */
const paymentPatienceMs = 24 * 3_600_000;

interface ConnectionRow {
  id: string;
  merchantId: string;
  consent_id: string | null;
}

interface PaymentRow {
  id: string;
  status: string;
  reason: string | null;
  consent_id: string | null;
  sending_at: Date | null;
  submitted_at: Date | null;
  payment_idempotency_id: string;
  aggregator_payment_id: string | null;
}

/** A deletion under way. */
interface Deletion {
  id: string;
  customerId: string;
  merchantId: string;
  attempts: number;
  deadline: Date;
  /** Whether the time for confirmations is over. */
  isOver: boolean;
}

/** Why a deletion has to be taken up again. */
type Problem = 'consent-unconfirmed' | 'payment-under-way' | 'aggregator-failed' | 'internal-fault';

/**
 * Deletes customers. First what others hold: consents at the banks, then the user at the aggregator. Then every row here. Each step
 * may be repeated, so a deletion that was interrupted anywhere is simply begun again. Banks and the aggregator have until the
 * deadline to confirm; then the rows go all the same, and the proof says what is not confirmed.
 */
@Injectable()
export class ErasureService {
  private readonly log = createLogger('customers');
  private readonly patienceMs: number;

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly inbound: InboundTraces,
    private readonly withdrawals: Withdrawals,
    @Inject(Env) env: Env,
  ) {
    this.patienceMs = env.DELETION_PATIENCE_HOURS * 3_600_000;
  }

  /** Takes the deletion as far as it goes now; what is left is due again. */
  async run(customerId: string): Promise<void> {
    const deletion = await this.begin(customerId);
    if (!deletion) return;
    let problem: Problem | undefined = 'internal-fault';
    try {
      problem = await this.erase(deletion);
    } catch (error) {
      if (error instanceof ClientError) problem = 'aggregator-failed';
      throw error;
    } finally {
      if (problem !== undefined) await this.comeBack(deletion, problem);
    }
  }

  private async begin(customerId: string): Promise<Deletion | undefined> {
    const { rows } = await this.pool.query<{ id: string; merchant_id: string; requested_at: Date; attempts: number }>(
      `update deletions d set attempts = d.attempts + 1 from customers c
       where c.id = d.customer_id and c.id = $1 and c.status = $2 returning d.id, d.merchant_id, d.requested_at, d.attempts`,
      [customerId, CustomerStatus.deleting],
    );
    const [row] = rows;
    if (!row) return undefined;
    const deadline = new Date(row.requested_at.getTime() + this.patienceMs);
    const { id, merchant_id: merchantId, attempts } = row;
    return { id, customerId, merchantId, attempts, deadline, isOver: deadline <= now() };
  }

  private async comeBack({ id, customerId, attempts, deadline }: Deletion, problem: Problem): Promise<void> {
    const at = now();
    const next = problem === 'payment-under-way' ? new Date(at.getTime() + paymentLookMs) : undefined;
    await this.pool.query(
      `with noted as (update deletions set problem = $3 where id = $4)
       update customers set next_erasure_at = $2, erasure_lease_until = null where id = $1`,
      [customerId, next ?? nextAttemptAt(attempts, at, deadline), problem, id],
    );
  }

  /** Undefined when nothing is left. */
  private async erase(deletion: Deletion): Promise<Problem | undefined> {
    const { customerId, merchantId } = deletion;
    const application = await this.aggregator.of(merchantId);
    const connections = await this.connectionsOf(customerId);
    await endConnections(this.pool, connections);
    const consents = await this.withdraw(connections);
    for (const { id } of (await this.paymentsOf(customerId)).filter(isUnsent)) await this.takeBack(id);
    const payments = await this.paymentsOf(customerId);
    const paymentsEnded = await confirmed(deletion, () => endPayments(application, payments));
    if (payments.some(isAwaited)) return 'payment-under-way';
    if (consents.some(isOpen) && !deletion.isOver) return 'consent-unconfirmed';
    const userGone = await confirmed(deletion, () => deleteUsers(application, customerId));
    const traces = tracesOf({ customerId, merchantId, connections, payments });
    const inboundIds = await this.inbound.about(merchantId, traces.marks);
    const proof = { id: deletion.id, consents: consents.map(outcomeOf), userDeleted: paymentsEnded && userGone };
    await transaction(this.pool, async (tx) => {
      const erased = await eraseRows(tx, { ...traces, inboundIds });
      await completeDeletion(tx, { merchantId, ...proof, erased });
    });
    this.log.info({ merchantId, deletionId: deletion.id }, 'a customer was deleted');
    return undefined;
  }

  private async connectionsOf(customerId: string): Promise<ConnectionRow[]> {
    const { rows } = await this.pool.query<ConnectionRow>(
      'select id, merchant_id as "merchantId", consent_id from connections where customer_id = $1',
      [customerId],
    );
    return rows;
  }

  /** One attempt for each consent that is due, and where all of them stand then. */
  private async withdraw(connections: readonly ConnectionRow[]): Promise<WithdrawalRow[]> {
    const ids = connections.map(({ id }) => id);
    for (const { id } of (await withdrawalsOf(this.pool, ids)).filter(isOpen)) await this.withdrawals.run(id);
    return withdrawalsOf(this.pool, ids);
  }

  /** What was never sent to a bank is never sent any more; whoever is just sending it was first. */
  private async takeBack(id: string): Promise<void> {
    const columns = { next_poll_at: null };
    const move = { id, to: MerchantPaymentStatus.FAILED, reason: takenBack, columns, isUnsent: true } as const;
    await transaction(this.pool, (tx) => movePayment(tx, move));
  }

  private async paymentsOf(customerId: string): Promise<PaymentRow[]> {
    const { rows } = await this.pool.query<PaymentRow>(
      `select id, status, reason, consent_id, sending_at, submitted_at, payment_idempotency_id, aggregator_payment_id
       from payments where customer_id = $1`,
      [customerId],
    );
    return rows;
  }
}

/** False when the aggregator has not confirmed it and the time for that is over; before, it is a reason to come back. */
async function confirmed({ isOver }: Deletion, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isOver || !(error instanceof ClientError)) throw error;
    return false;
  }
}

/** Ends the consents of payments that were taken back. One that a bank may have is read by its consent until its end is known. */
async function endPayments(application: AggregatorClient, payments: readonly PaymentRow[]): Promise<void> {
  for (const { reason, consent_id: consentId } of payments) {
    if (reason === takenBack && consentId !== null) await unlessGone(application.delete(consentId));
  }
}

/** The user at the aggregator, with every consent that it still has. */
async function deleteUsers(application: AggregatorClient, customerId: string): Promise<void> {
  for (const { uuid } of await application.getUsers([customerId])) {
    if (uuid !== undefined) await unlessGone(application.deleteUser(uuid));
  }
}

/** Whether nobody has begun to send it, as far as we know. */
function isUnsent({ status, sending_at: sendingAt, submitted_at: submittedAt }: PaymentRow): boolean {
  return sendingAt === null && submittedAt === null && !isSettled(status);
}

/** Whether the bank has it, or may have it, and has not said how it ended. */
function isAwaited({ status, sending_at: sendingAt, submitted_at: submittedAt }: PaymentRow): boolean {
  const sentAt = submittedAt ?? sendingAt;
  if (isSettled(status) || sentAt === null) return false;
  return sentAt.getTime() + paymentPatienceMs > now().getTime();
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
