import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { PaymentStatus, problems, type PaymentRequest, type PaymentResponse, type PsuHeaders } from '#libs/contract';
import { hashToken, POOL, transaction } from '#libs/database';
import { now } from '#libs/server';
import { BankCalls } from '../consents/bank-calls.service.js';
import { ConsentSecrets } from '../consents/consent-secrets.js';
import { requireFeature } from '../consents/consent-scope.js';
import { isSpent } from '../consents/consent-state.js';
import { moveConsent, type ConsentRow } from '../consents/consent.queries.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { PaymentFollow } from './payment-follow.service.js';
import { PaymentRecord } from './payment-record.service.js';
import { paymentTypeRule } from './payment-rules.js';
import {
  findByAnyId,
  findByIdempotencyId,
  insertPayment,
  type NewPayment,
  type PaymentRow,
} from './payment.queries.js';
import { canonicalText, firstDifference } from './request-difference.js';

/** Longer than the bank may take, so that nobody else sends the payment while we do. */
const LEASE_MS = 90_000;

/**
 * Makes payments, in this order: in one transaction consume the consent and record the payment as PENDING; send it to the
 * bank with our id as the idempotency key; record the answer. A crash or a lost answer leaves a recorded payment that is
 * sent again under the same key, never one that was sent and is not recorded, and never two.
 */
@Injectable()
export class PaymentsService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly banks: BankCalls,
    private readonly institutions: InstitutionsService,
    private readonly record: PaymentRecord,
    private readonly follow: PaymentFollow,
  ) {}

  /** POST /payments. The same request again is answered with the same payment. */
  async pay(consent: ConsentRow, request: PaymentRequest, psu: PsuHeaders): Promise<PaymentResponse> {
    if (consent.kind !== 'payment') {
      throw problems.forbidden({ parameter: 'consent', message: 'The consent is not for a payment' });
    }
    const fingerprint = hashToken(canonicalText(request), `payment:${consent.id}`);
    const earlier = await this.earlier(consent, request, fingerprint);
    if (earlier !== undefined) return this.record.show(earlier);
    this.refuseUnfit(consent, request);
    const row = await this.begin(consent, request, fingerprint);
    if (row === undefined) return this.afterLosing(consent, request, fingerprint);
    const { row: sent, error } = await this.follow.send(row, { psu });
    if (error !== undefined) {
      await this.banks.noteRevocation(consent, error);
      throw this.institutions.problemOf(error);
    }
    return this.record.show(sent);
  }

  /** GET /payments/{paymentId}/details; an open payment is asked about first, unless that was done a moment ago. */
  async details(consent: ConsentRow, paymentId: string, psu: PsuHeaders): Promise<PaymentResponse> {
    const row = await findByAnyId(this.pool, consent.id, paymentId);
    if (row === undefined) throw problems.notFound({ parameter: 'paymentId', message: 'There is no such payment' });
    return this.record.show(await this.follow.refresh(row, psu));
  }

  /** The payment that the same idempotency id made before; another body under it is a conflict. */
  private async earlier(
    consent: ConsentRow,
    request: PaymentRequest,
    fingerprint: string,
  ): Promise<PaymentRow | undefined> {
    const row = await findByIdempotencyId(this.pool, consent.id, request.paymentIdempotencyId);
    if (row !== undefined && row.requestFingerprint !== fingerprint) {
      const message = 'Another payment was made with this paymentIdempotencyId';
      throw problems.conflict({ parameter: '$.paymentIdempotencyId', message });
    }
    return row;
  }

  private refuseUnfit(consent: ConsentRow, request: PaymentRequest): void {
    if (isSpent(consent.status)) throw spent();
    if (consent.expiresAt !== null && consent.expiresAt <= now()) {
      throw problems.consentNotAuthorised({ parameter: 'consent', message: 'The consent has expired' });
    }
    if (consent.sealedRequest === null) throw new Error(`Payment consent ${consent.id} does not say what it allows`);
    const authorised = this.secrets.openRequest<PaymentRequest>(consent.id, consent.sealedRequest);
    const parameter = firstDifference(authorised, JSON.parse(JSON.stringify(request)));
    if (parameter !== undefined) {
      throw problems.unexpectedValue({
        parameter,
        message: `${parameter} differs from the payment that was authorised`,
      });
    }
    const create = paymentTypeRule(request.type)?.create;
    const { features: offered } = this.institutions.require(consent.institutionId);
    requireFeature(create === undefined ? [] : [create], { offered, scope: consent.featureScope });
  }

  /** Consumes the consent and records the payment. Undefined when another request consumed the consent first. */
  private async begin(
    consent: ConsentRow,
    request: PaymentRequest,
    requestFingerprint: string,
  ): Promise<PaymentRow | undefined> {
    const at = now();
    const id = randomUUID();
    const payment: NewPayment = {
      id,
      applicationId: consent.applicationId,
      consentId: consent.id,
      institutionId: consent.institutionId,
      paymentIdempotencyId: request.paymentIdempotencyId,
      paymentLifecycleId: id.replaceAll('-', ''),
      status: PaymentStatus.PENDING,
      requestFingerprint,
      sealedRequest: this.record.sealRequest(id, request),
      createdAt: at,
      nextPollAt: at,
      leaseUntil: new Date(at.getTime() + LEASE_MS),
    };
    const won = await transaction(this.pool, async (tx) => {
      if (!(await moveConsent(tx, { id: consent.id, to: 'CONSUMED', at }))) return false;
      await insertPayment(tx, payment);
      return true;
    });
    return won ? findByIdempotencyId(this.pool, consent.id, request.paymentIdempotencyId) : undefined;
  }

  private async afterLosing(
    consent: ConsentRow,
    request: PaymentRequest,
    fingerprint: string,
  ): Promise<PaymentResponse> {
    const winner = await this.earlier(consent, request, fingerprint);
    if (winner === undefined) throw spent();
    return this.record.show(winner);
  }
}

function spent(): Error {
  const message = 'The consent has been used for its payment: each payment needs a consent of its own';
  return problems.consentNotAuthorised({ parameter: 'consent', message });
}
