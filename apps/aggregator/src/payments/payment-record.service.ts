import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { PaymentRequest, PaymentResponse, PaymentStatus } from '#libs/contract';
import type { BankPayment } from '#libs/connectors';
import { InjectQueue, POOL, Queue, SecretBox, transaction } from '#libs/database';
import { createLogger, now } from '#libs/server';
import type { Queryable } from '../consents/consent.queries.js';
import { EventsService } from '../webhooks/events.service.js';
import type { EventCategory } from '../webhooks/event-category.js';
import { isCompleted, isReported, mayMove, outcomeOf } from './payment-state.js';
import { toPayment } from './payment.map.js';
import { lockPayment, writeProgress, type PaymentRow } from './payment.queries.js';
import { nextPollAt } from './poll-schedule.js';

/** The queue that follows payments, and its one kind of job. */
export const paymentsQueue = 'payment-polls';
export interface PaymentPollJob {
  paymentId: string;
}

/** Looks further away than this are left to the sweep, which finds whatever is due. */
const QUEUED_AHEAD_MS = 15_000;

const log = createLogger('payments');

/** What one look at the bank gave: its word, its final refusal, or nothing. */
export type Look =
  | { kind: 'answered'; bank: BankPayment }
  | { kind: 'refused' }
  | { kind: 'lost' }
  | { kind: 'unanswered'; retryAfterMs?: number | undefined };

/** Writes what the bank said of a payment, together with the events that follow from it, and says when to look again. */
@Injectable()
export class PaymentRecord {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly box: SecretBox,
    private readonly events: EventsService,
    @InjectQueue(paymentsQueue) private readonly queue: Queue<PaymentPollJob>,
  ) {}

  sealRequest(paymentId: string, request: PaymentRequest): string {
    return this.box.seal(JSON.stringify(request), `payment:${paymentId}:request`);
  }

  requestOf(row: PaymentRow): PaymentRequest {
    return JSON.parse(this.box.open(row.sealedRequest, `payment:${row.id}:request`)) as PaymentRequest;
  }

  /** The payment as the interface shows it. */
  show(row: PaymentRow): PaymentResponse {
    return toPayment(row, this.requestOf(row), this.bankPaymentOf(row));
  }

  /** Records one look in one transaction. Status, ISO status and events change together or not at all. */
  async record(paymentId: string, look: Look): Promise<PaymentRow> {
    const { row, deliveries } = await transaction(this.pool, async (tx) => {
      const before = await lockPayment(tx, paymentId);
      if (before === undefined) throw new Error(`Payment ${paymentId} is gone`);
      const after = this.progress(before, look, now());
      const written = await writeProgress(tx, { ...after, from: before.status, at: after.updatedAt });
      if (!written) throw new Error(`Payment ${paymentId} moved while it was locked`);
      return { row: after, deliveries: await this.publish(tx, before, after) };
    });
    await this.events.dispatch(deliveries);
    await this.queueNextLook(row);
    return row;
  }

  /** Queues the next look when it is near. It never fails its caller: what the queue does not take, the sweep finds. */
  async queueNextLook({ id, nextPollAt: due, pollAttempts }: PaymentRow): Promise<void> {
    const delay = due === null ? Infinity : due.getTime() - now().getTime();
    if (delay > QUEUED_AHEAD_MS) return;
    try {
      await this.enqueue([{ id, pollAttempts }], Math.max(0, delay));
    } catch (error) {
      log.warn({ err: error, paymentId: id }, 'the next look could not be queued and waits for the sweep');
    }
  }

  /** Queues looks; a look that is queued already is not queued twice. */
  async enqueue(payments: readonly { id: string; pollAttempts: number }[], delay = 0): Promise<void> {
    if (payments.length === 0) return;
    await this.queue.addBulk(
      payments.map(({ id, pollAttempts }) => ({
        name: 'poll',
        data: { paymentId: id },
        // A finished job must not stay, or its id would keep the same look from being queued again after a crash.
        opts: { jobId: `${id}-${pollAttempts}`, delay, attempts: 1, removeOnComplete: true, removeOnFail: true },
      })),
    );
  }

  private progress(before: PaymentRow, look: Look, at: Date): PaymentRow {
    const bank = look.kind === 'answered' ? look.bank : undefined;
    const status = statusAfter(before.status, look);
    const isoStatus = bank?.statusDetails.isoStatus?.code ?? before.isoStatus;
    const attempts = before.pollAttempts + 1;
    const isOver = outcomeOf(status, bank?.final ?? false) !== 'open' || look.kind === 'lost';
    const retryAfterMs = look.kind === 'unanswered' ? look.retryAfterMs : undefined;
    return {
      ...before,
      status,
      isoStatus,
      institutionPaymentId: bank?.institutionPaymentId ?? before.institutionPaymentId,
      sealedResponse: bank
        ? this.box.seal(JSON.stringify(bank), `payment:${before.id}:response`)
        : before.sealedResponse,
      nextPollAt: isOver
        ? null
        : nextPollAt({ createdAt: before.createdAt, attempts: before.pollAttempts }, at, retryAfterMs),
      pollAttempts: attempts,
      updatedAt: at,
    };
  }

  private async publish(tx: Queryable, before: PaymentRow, after: PaymentRow) {
    const bank = this.bankPaymentOf(after);
    const categories: EventCategory[] = [];
    if (after.isoStatus !== before.isoStatus) categories.push('single_payment.iso_status.updated');
    if (after.status !== before.status && isReported(after.status)) {
      categories.push('single_payment.status.updated');
      if (isCompleted(after.status)) categories.push('single_payment.status.completed');
    }
    const outcome = outcomeOf(after.status, bank?.final ?? false);
    const wasOpen = outcomeOf(before.status, this.bankPaymentOf(before)?.final ?? false) === 'open';
    if (wasOpen && outcome === 'succeeded') categories.push('payment.state.success');
    if (wasOpen && outcome === 'failed') categories.push('payment.state.failed');
    const deliveries = [];
    const payment = categories.length > 0 ? this.show(after) : undefined;
    for (const category of categories) {
      const event = category.startsWith('payment.state.') ? { ...payment, consentId: after.consentId } : { ...payment };
      deliveries.push(...(await this.events.publish(tx, { applicationId: after.applicationId, category, event })));
    }
    return deliveries;
  }

  private bankPaymentOf(row: PaymentRow): BankPayment | undefined {
    if (row.sealedResponse === null) return undefined;
    return JSON.parse(this.box.open(row.sealedResponse, `payment:${row.id}:response`)) as BankPayment;
  }
}

/** The status a look leads to. What the table of moves does not allow, such as a step back, is not believed. */
function statusAfter(from: PaymentStatus, look: Look): PaymentStatus {
  if (look.kind === 'unanswered') return from;
  const told =
    look.kind === 'answered' ? look.bank.statusDetails.status : look.kind === 'refused' ? 'FAILED' : 'UNKNOWN';
  return told !== undefined && mayMove(from, told) ? told : from;
}
