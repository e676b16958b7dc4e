import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems, type PsuHeaders } from '#libs/contract';
import type { InstitutionErrorKind, Pay } from '#libs/connectors';
import { asSystem, POOL } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { BankCalls, institutionErrorOf, type CallOptions } from '../consents/bank-calls.service.js';
import { findAnyConsent } from '../consents/consent.queries.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { PaymentRecord, type Look } from './payment-record.service.js';
import { paymentTypeRule } from './payment-rules.js';
import { claimPayment, duePayments, type PaymentRow } from './payment.queries.js';

const LEASE_MS = 90_000;
const CALL_MS = 30_000;
const DUE_AT_ONCE = 500;
/** A caller who asks again sooner than this gets what the last look found. */
const FRESH_MS = 1_000;
/**
 * Banks remember an idempotency key for a day (UK Open Banking). A payment without an answer is not sent again after
 * this age, because the bank might take it for a new one.
 */
const RESEND_MS = 23 * 3_600_000;
/** Refusals of the first sending: the bank has certainly not taken the payment. */
const REFUSALS: ReadonlySet<InstitutionErrorKind> = new Set(['rejected', 'not-found', 'unauthorised', 'consent-gone']);
/**
 * Refusals of a sending that may be the second. A consent or token that is spent by now says nothing of the first, so
 * only a refusal of the payment itself counts: a bank that had taken it would have answered with it (same key).
 */
const REFUSALS_AGAIN: ReadonlySet<InstitutionErrorKind> = new Set(['rejected', 'not-found']);

const log = createLogger('payments');

/** Who has the bank asked, and what ends their interest in the answer. */
type Caller = Pick<CallOptions, 'psu' | 'signal'>;

/** Talks to banks about payments that are recorded already: sends them, sends them again, and asks how they stand. */
@Injectable()
export class PaymentFollow {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly banks: BankCalls,
    private readonly institutions: InstitutionsService,
    private readonly record: PaymentRecord,
  ) {}

  /**
   * Sends a payment that its caller holds, under its own id as the idempotency key. An answer, or a refusal that is
   * certain, is recorded; anything else leaves it open, to be sent again under the same key or asked about.
   */
  async send(
    row: PaymentRow,
    { psu, signal, refusals = REFUSALS }: Caller & { refusals?: ReadonlySet<InstitutionErrorKind> },
  ): Promise<{ row: PaymentRow; error?: unknown }> {
    const consent = await findAnyConsent(this.pool, row.consentId);
    if (consent === undefined) throw new Error(`Payment ${row.id} has no consent`);
    const { connector, call } = this.banks.openGranted(consent, { psu, signal, timeoutMs: CALL_MS });
    const request = this.record.requestOf(row);
    // Every CREATE_ operation of a payment has the same signature.
    const create = paymentTypeRule(request.type)?.create as 'CREATE_DOMESTIC_SINGLE_PAYMENT' | undefined;
    const pay: Pay | undefined = create === undefined ? undefined : connector.operations[create];
    if (pay === undefined) throw problems.featureNotSupported();
    try {
      const bank = await pay(call, request, row.id);
      return { row: await this.record.record(row.id, { kind: 'answered', bank }) };
    } catch (error) {
      const look = lookOf(error, connector.resendable, refusals);
      if (look === undefined) throw error;
      log.warn({ paymentId: row.id, institutionId: row.institutionId, look: look.kind }, 'payment was not answered');
      const recorded = await this.record.record(row.id, look);
      return look.kind === 'refused' ? { row: recorded, error } : { row: recorded };
    }
  }

  /**
   * Looks at one payment if it is due; does nothing when it is finished or in another process's hands. A look that `signal`
   * gives up records nothing: the payment is due again when its lease is over.
   */
  async poll(paymentId: string, signal?: AbortSignal): Promise<void> {
    await asSystem(() => this.look(paymentId, { psu: {}, signal }));
  }

  /** Looks at a payment that its caller asks about, unless that was done a moment ago. */
  async refresh(row: PaymentRow, psu: PsuHeaders): Promise<PaymentRow> {
    if (row.nextPollAt === null) return row;
    return (await this.look(row.id, { psu }, new Date(now().getTime() - FRESH_MS))) ?? row;
  }

  /** Queues every payment that is due: the distant looks, and whatever a crash or a lost queue left behind. */
  async sweep(): Promise<number> {
    const due = await this.due();
    await this.record.enqueue(due);
    return due.length;
  }

  /** The payments that are due and in nobody's hands. */
  async due(): Promise<{ id: string; pollAttempts: number }[]> {
    return asSystem(() => duePayments(this.pool, now(), DUE_AT_ONCE));
  }

  private async look(paymentId: string, caller: Caller, unseenSince?: Date): Promise<PaymentRow | undefined> {
    const at = now();
    const until = new Date(at.getTime() + LEASE_MS);
    const row = await claimPayment(this.pool, paymentId, { at, until, ...(unseenSince ? { unseenSince } : {}) });
    if (row === undefined) return undefined;
    if (row.institutionPaymentId !== null) return this.ask(row, row.institutionPaymentId, caller);
    // The answer to the first sending was lost, or it never left: only the same key makes sending again safe.
    const { resendable } = this.institutions.connector(row.institutionId);
    const isKeyKnown = at.getTime() - row.createdAt.getTime() < RESEND_MS;
    if (!resendable || !isKeyKnown) return this.record.record(row.id, { kind: 'lost' });
    return (await this.send(row, { ...caller, refusals: REFUSALS_AGAIN })).row;
  }

  private async ask(row: PaymentRow, institutionPaymentId: string, caller: Caller): Promise<PaymentRow> {
    const consent = await findAnyConsent(this.pool, row.consentId);
    if (consent === undefined) throw new Error(`Payment ${row.id} has no consent`);
    const { connector, call } = this.banks.openGranted(consent, { ...caller, timeoutMs: CALL_MS });
    const details = connector.operations.EXISTING_PAYMENTS_DETAILS;
    if (details === undefined) return this.record.record(row.id, { kind: 'unanswered' });
    try {
      return await this.record.record(row.id, { kind: 'answered', bank: await details(call, institutionPaymentId) });
    } catch (error) {
      const failure = institutionErrorOf(error);
      if (failure === undefined) throw error;
      // The bank took the payment once: whatever it answers to a question about it, it is not guessed to have failed.
      return this.record.record(row.id, { kind: 'unanswered', retryAfterMs: failure.retryAfterMs });
    }
  }
}

/** What a failure to send means; undefined when it was not the bank's. */
function lookOf(error: unknown, resendable: boolean, refusals: ReadonlySet<InstitutionErrorKind>): Look | undefined {
  const failure = institutionErrorOf(error);
  if (failure === undefined) return undefined;
  if (refusals.has(failure.kind)) return { kind: 'refused' };
  return resendable ? { kind: 'unanswered', retryAfterMs: failure.retryAfterMs } : { kind: 'lost' };
}
