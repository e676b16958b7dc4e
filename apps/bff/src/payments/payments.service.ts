import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { ClientError } from '#libs/client';
import { formatMinor, type PaymentRequest, problems, type PsuHeaders, toMinor } from '#libs/contract';
import { POOL, SecretBox, transaction } from '#libs/database';
import { now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { refusalOf } from '../aggregator/refusal.js';
import type { Scope } from '../auth/caller.js';
import { newCallbackState } from '../callbacks/callback-state.js';
import { checkReturnUrl } from '../callbacks/return-address.js';
import { Env, isProduction } from '../config.js';
import { cutPage, readListCursor } from '../cursor.js';
import { keyReused, underWay } from '../idempotency/idempotency.js';
import type { ListQuery } from '../list.dto.js';
import type { NewPayment, PaymentList, PaymentView } from './payment.dto.js';
import { creationClaimMs, firstPaymentLookMs, isIntent, MerchantPaymentStatus } from './payment-status.js';
import { movePayment, type PaymentRow, toPaymentView } from './payments.queries.js';

const waitMs = 50;
const waitsMax = 100;

/** What the aggregator's parameters are called in our request. */
const members = {
  '$.institutionId': '$.institutionId',
  institutionId: '$.institutionId',
  '$.paymentRequest.amount.amount': '$.amount',
  '$.paymentRequest.amount.currency': '$.currency',
  '$.paymentRequest.payee.accountIdentifications': '$.payee.accountIdentifications',
  '$.payee.accountIdentifications': '$.payee.accountIdentifications',
  '$.paymentRequest.reference': '$.reference',
};

/** A customer's payments: the merchant's intent, stored before anybody is called. */
@Injectable()
export class PaymentsService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly secrets: SecretBox,
    @Inject(Env) private readonly env: Env,
  ) {}

  /**
   * Asks for the customer's authorisation of a payment. The same key with the same body answers the same payment, at
   * any later time and at the same moment; with another body it is refused. `psu` is the customer, if they are present.
   */
  async pay(
    scope: Scope,
    { key, psu }: { key: string; psu?: PsuHeaders | undefined },
    wanted: NewPayment,
  ): Promise<{ payment: PaymentView; replayed: boolean }> {
    const requestHash = hashOf(scope, wanted);
    const intent = await this.checked(scope, wanted);
    const since = now();
    for (let waits = 0; waits < waitsMax; waits += 1) {
      const row = await this.insert(scope, { key, requestHash, ...intent });
      if (row.request_hash !== requestHash) {
        throw keyReused();
      }
      if (!isIntent(row.status)) return { payment: toPaymentView(row), replayed: true };
      if (await this.claim(row.id)) return { payment: toPaymentView(await this.authorise(row, psu)), replayed: false };
      // Another call with this key is asking for the authorisation right now: its answer is ours.
      await pause(waitMs);
    }
    throw underWay(since);
  }

  async get({ customerId }: Scope, id: string): Promise<PaymentView> {
    const { rows } = await this.pool.query<PaymentRow>('select * from payments where id = $1 and customer_id = $2', [
      id,
      customerId,
    ]);
    const row = rows[0];
    if (!row) throw problems.notFound({ message: 'The payment is not known' });
    return toPaymentView(row);
  }

  /** A page, the newest first. */
  async list({ customerId }: Scope, { limit = 100, cursor }: ListQuery): Promise<PaymentList> {
    const list = ['payments', customerId];
    const after = cursor === undefined ? undefined : readListCursor(cursor, list);
    const { rows } = await this.pool.query<PaymentRow>(
      `select * from payments where customer_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3::uuid))
       order by created_at desc, id desc limit $4`,
      [customerId, after?.date ?? null, after?.id ?? null, limit + 1],
    );
    const { page, more } = cutPage(rows, limit, { list, placeOf: ({ created_at: date, id }) => ({ date, id }) });
    return { data: page.map(toPaymentView), ...more };
  }

  private async checked(scope: Scope, wanted: NewPayment): Promise<Intent> {
    const { rows } = await this.pool.query<{ return_urls: string[] }>(
      'select return_urls from merchants where id = $1',
      [scope.merchantId],
    );
    const returnUrl = checkReturnUrl(wanted.returnUrl, {
      registered: rows[0]?.return_urls ?? [],
      production: isProduction(this.env),
    });
    return {
      wanted,
      institutionId: await this.institution(scope, wanted),
      amountMinor: minorOf(wanted),
      returnUrl: returnUrl ?? null,
    };
  }

  private async institution({ customerId }: Scope, { institutionId, connectionId }: NewPayment): Promise<string> {
    if (connectionId === undefined) {
      if (institutionId !== undefined) return institutionId;
      throw problems.unexpectedValue({
        parameter: '$.institutionId',
        message: 'institutionId or connectionId is mandatory',
      });
    }
    const text = 'select institution_id from connections where id = $1 and customer_id = $2';
    const { rows } = await this.pool.query<{ institution_id: string }>(text, [connectionId, customerId]);
    const found = rows[0]?.institution_id;
    if (found !== undefined && (institutionId === undefined || institutionId === found)) return found;
    throw problems.unexpectedValue({
      parameter: '$.connectionId',
      message: 'connectionId must be a connection of the customer, at the institution if one is named',
    });
  }

  /** The row of this key: ours, or the one that was there before. */
  private async insert(scope: Scope, intent: Intent & { key: string; requestHash: string }): Promise<PaymentRow> {
    const { wanted, key, requestHash, institutionId, amountMinor, returnUrl } = intent;
    const id = randomUUID();
    const request: PaymentRequest = {
      paymentIdempotencyId: id.replaceAll('-', ''),
      type: 'DOMESTIC_PAYMENT',
      amount: { amount: wanted.amount, currency: wanted.currency },
      payee: {
        name: wanted.payee.name,
        accountIdentifications: wanted.payee.accountIdentifications.map(({ type, identification }) => ({
          type,
          identification,
        })),
      },
      ...(wanted.reference === undefined ? {} : { reference: wanted.reference }),
    };
    const createdAt = now();
    await this.pool.query(
      `insert into payments (id, customer_id, merchant_id, connection_id, institution_id, idempotency_key, request_hash,
         payment_idempotency_id, status, amount, amount_minor, currency, reference, sealed_request, return_url, created_at, next_poll_at, polls)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 0)
       on conflict (merchant_id, idempotency_key) do nothing`,
      [
        id,
        scope.customerId,
        scope.merchantId,
        wanted.connectionId ?? null,
        institutionId,
        key,
        requestHash,
        request.paymentIdempotencyId,
        MerchantPaymentStatus.CREATED,
        formatMinor(amountMinor, wanted.currency),
        amountMinor,
        wanted.currency,
        wanted.reference ?? null,
        this.secrets.seal(JSON.stringify(request), `payment:${id}:request`),
        returnUrl,
        createdAt,
        new Date(createdAt.getTime() + firstPaymentLookMs),
      ],
    );
    const text = 'select * from payments where merchant_id = $1 and idempotency_key = $2';
    const { rows } = await this.pool.query<PaymentRow>(text, [scope.merchantId, key]);
    const row = rows[0];
    // Another call's intent may have been refused and removed between the two statements.
    return row ?? this.insert(scope, intent);
  }

  /** Who may ask the aggregator for this intent now; the claim of a call that died is void after a while. */
  private async claim(id: string): Promise<boolean> {
    const at = now();
    const { rowCount } = await this.pool.query(
      `update payments set state_used_at = $2 where id = $1 and status = $4 and (state_used_at is null or state_used_at < $3)`,
      [id, at, new Date(at.getTime() - creationClaimMs), MerchantPaymentStatus.CREATED],
    );
    return rowCount === 1;
  }

  private async authorise(row: PaymentRow, psu?: PsuHeaders): Promise<PaymentRow> {
    const { state, hash } = newCallbackState();
    await this.pool.query('update payments set state_hash = $2 where id = $1', [row.id, hash]);
    try {
      const application = await this.aggregator.of(row.merchant_id);
      const sealed = this.secrets.open(row.sealed_request, `payment:${row.id}:request`);
      const request = {
        applicationUserId: row.customer_id,
        institutionId: row.institution_id,
        callback: `${this.env.BFF_URL}/v1/payments/callback?state=${state}`,
        oneTimeToken: true,
        paymentRequest: JSON.parse(sealed) as PaymentRequest,
      };
      const { data: consent } = await application.createPaymentAuthorisation(request, psu);
      if (consent.authorisationUrl === undefined) throw new Error('The aggregator answered without an address');
      const columns = { consent_id: consent.id, authorisation_url: consent.authorisationUrl, state_used_at: null };
      const move = { id: row.id, to: MerchantPaymentStatus.AWAITING_AUTHORIZATION, columns };
      await transaction(this.pool, (tx) => movePayment(tx, move));
    } catch (error) {
      await this.giveUp(row.id, error);
      throw refusalOf(error, members);
    }
    const { rows } = await this.pool.query<PaymentRow>('select * from payments where id = $1', [row.id]);
    const authorised = rows[0];
    if (!authorised) throw new Error('A payment vanished while it was being authorised');
    return authorised;
  }

  /** A refused intent leaves nothing behind; any other may be tried again with the same key. */
  private async giveUp(id: string, error: unknown): Promise<void> {
    const refused = error instanceof ClientError && error.status !== undefined && !error.retryable;
    const text = refused
      ? 'delete from payments where id = $1 and status = $2'
      : 'update payments set state_used_at = null where id = $1 and status = $2';
    await this.pool.query(text, [id, MerchantPaymentStatus.CREATED]);
  }
}

interface Intent {
  wanted: NewPayment;
  institutionId: string;
  amountMinor: bigint;
  returnUrl: string | null;
}

/** Of everything that makes the request what it is; members in a fixed order. */
function hashOf({ customerId }: Scope, wanted: NewPayment): string {
  const { institutionId, connectionId, amount, currency, payee, reference, returnUrl } = wanted;
  const identifications = payee.accountIdentifications.map(({ type, identification }) => [type, identification]);
  const facts = [
    customerId,
    institutionId,
    connectionId,
    amount,
    currency,
    payee.name,
    identifications,
    reference,
    returnUrl,
  ];
  return createHash('sha256')
    .update(JSON.stringify(facts.map((fact) => fact ?? null)))
    .digest('hex');
}

function minorOf({ amount, currency }: NewPayment): bigint {
  try {
    const minor = toMinor(amount, currency);
    if (minor > 0n) return minor;
  } catch {
    // Finer than the currency has: refused in the same words as nothing at all.
  }
  throw problems.unexpectedValue({
    parameter: '$.amount',
    message: `amount must be more than 0 and no finer than the minor unit of ${currency}`,
  });
}
