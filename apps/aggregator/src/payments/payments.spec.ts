import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  problems,
  type Consent,
  type Envelope,
  type PaymentRequest,
  type PaymentResponse,
  type PaymentResponses,
} from '#libs/contract';
import { InstitutionError } from '#libs/connectors';
import { now, resetClock, setClock } from '#libs/server';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import {
  applicationWithCallback,
  asOwner,
  domesticPayment,
  grantedAccount,
  grantedPayment,
  type Granted,
} from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import {
  bankPayment,
  scriptedConnector,
  scriptInstitution,
  type ScriptedConnector,
} from '../../../../test/support/scripted-connector.js';
import type { IssuedKey } from '../applications/application-keys.service.js';
import { PaymentFollow } from './payment-follow.service.js';
import { PaymentRecord } from './payment-record.service.js';

let aggregator: TestAggregator;
let bank: ScriptedConnector;
let shop: IssuedKey;
let consent: Granted;

const payment = domesticPayment('p1');

beforeAll(async () => {
  aggregator = await TestAggregator.start();
});
afterAll(() => aggregator.close());
beforeEach(async () => {
  bank = scriptedConnector();
  scriptInstitution(aggregator, bank);
  shop = await applicationWithCallback(aggregator);
  consent = await grantedPayment(aggregator, shop, payment);
});
afterEach(() => {
  resetClock();
  vi.restoreAllMocks();
});

const shape = { shape: 'minimal' } as const;
const pay = (body: object = payment, token = consent.token) =>
  aggregator.ask<Envelope<PaymentResponse>>('POST /payments', { as: shop, body, headers: { consent: token } });
const details = (id: string, token = consent.token) =>
  aggregator.ask<Envelope<PaymentResponses>>(`GET /payments/${id}/details`, { as: shop, headers: { consent: token } });
const detailsOf = async (id: string) => (await details(id)).body.data.payments[0];
const consentStatus = async () =>
  (await aggregator.ask<Envelope<Consent>>(`GET /consents/${consent.id}`, { as: shop })).body.data.status;
const stored = () => asOwner(aggregator, `SELECT * FROM aggregator.payments WHERE consent_id = '${consent.id}'`);
const isDue = async () => {
  const due = await aggregator.get(PaymentFollow).due();
  const [row] = await stored();
  return due.some(({ id }) => id === row?.['id']);
};
const later = (seconds: number) => {
  const at = new Date(now().getTime() + seconds * 1_000);
  setClock(() => at);
};
const keysSent = () => bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mock.calls.map(([, , key]) => key);
const timeout = () => new InstitutionError('timeout', 'No answer');
const categories = async () => {
  const events = await asOwner(
    aggregator,
    `SELECT category FROM aggregator.events WHERE application_id = '${shop.id}' ORDER BY sequence`,
  );
  return events.map(({ category }) => category);
};

describe('POST /payments', () => {
  it('makes the payment that was authorised and uses the consent up', async () => {
    const { status, body } = await pay();
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      id: 'pv3-1',
      institutionConsentId: 'sdp-1',
      paymentIdempotencyId: 'p1',
      paymentLifecycleId: expect.stringMatching(/^[0-9a-z]{1,35}$/),
      status: 'COMPLETED',
      statusDetails: { status: 'COMPLETED', isoStatus: { code: 'ACSP' } },
      payeeDetails: payment.payee,
      reference: 'Order 7',
      amount: 12.5,
      currency: 'GBP',
      amountDetails: { amount: 12.5, currency: 'GBP' },
    });
    expect(await consentStatus()).toBe('CONSUMED');
  });

  it('is recorded before the bank is asked, and the bank is given our id as the key', async () => {
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockImplementation(async () => {
      expect(await stored()).toMatchObject([{ status: 'PENDING', institution_payment_id: null }]);
      expect(await consentStatus()).toBe('CONSUMED');
      return bankPayment('ACSP');
    });
    expect((await pay()).status).toBe(201);
    expect(keysSent()).toEqual([(await stored())[0]?.['id']]);
  });

  it.each<[string, (request: PaymentRequest) => object]>([
    ['$.amount.amount', (request) => ({ ...request, amount: { amount: 12.51, currency: 'GBP' } })],
    ['$.payee.name', (request) => ({ ...request, payee: { ...request.payee, name: 'Thief' } })],
    ['$.reference', ({ reference: _reference, ...request }) => request],
    ['$.paymentIdempotencyId', (request) => ({ ...request, paymentIdempotencyId: 'p2' })],
  ])('refuses a request that differs from the authorised one in %s', async (parameter, change) => {
    await expectProblem(pay(change(payment)), problems.unexpectedValue({ parameter }), shape);
    expect(bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT).not.toHaveBeenCalled();
    expect(await consentStatus()).toBe('AUTHORIZED');
    expect(await stored()).toEqual([]);
  });

  it('answers the same request with the same payment', async () => {
    const first = (await pay()).body.data;
    const again = await pay({ ...payment });
    expect(again.status).toBe(201);
    expect(again.body.data).toEqual(first);
    expect(keysSent()).toHaveLength(1);
  });

  it('refuses another body under the same id, and another payment under the same consent', async () => {
    await pay();
    const other = pay({ ...payment, reference: 'Other' });
    await expectProblem(other, problems.conflict({ parameter: '$.paymentIdempotencyId' }), shape);
    const second = pay({ ...payment, paymentIdempotencyId: 'p2' });
    await expectProblem(second, problems.consentNotAuthorised({ parameter: 'consent' }), shape);
    expect(keysSent()).toHaveLength(1);
  });

  it('reaches the bank once when it is sent several times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => pay()));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 201));
    expect(new Set(answers.map(({ body }) => body.data.paymentLifecycleId)).size).toBe(1);
    expect(keysSent()).toHaveLength(1);
    expect(await stored()).toHaveLength(1);
  });

  it('wins over another payment on the same consent at the same time, or loses to it', async () => {
    const other = await grantedPayment(aggregator, shop, payment);
    consent = other;
    const answers = await Promise.all([pay(), pay({ ...payment, paymentIdempotencyId: 'p2' }), pay()]);
    expect(
      answers
        .map(({ status }) => status)
        .toSorted()
        .slice(0, 2),
    ).toEqual([201, 201]);
    expect(keysSent()).toHaveLength(1);
  });

  it('is failed by the bank’s refusal, for good', async () => {
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValue(
      new InstitutionError('rejected', 'No funds', { httpStatus: 400 }),
    );
    await expectProblem(pay(), problems.institutionFailed({ errorMessage: 'No funds', httpStatusCode: 400 }), shape);
    expect(await stored()).toMatchObject([{ status: 'FAILED', next_poll_at: null }]);
    expect((await pay()).body.data.status).toBe('FAILED');
    expect(keysSent()).toHaveLength(1);
    expect(await categories()).toEqual(['single_payment.status.updated', 'payment.state.failed']);
  });

  it('keeps the consent when the institution cannot make the payment', async () => {
    scriptInstitution(aggregator, bank, { without: ['CREATE_DOMESTIC_SINGLE_PAYMENT'] });
    await expectProblem(pay(), problems.featureNotSupported(), shape);
    expect(await consentStatus()).toBe('AUTHORIZED');
  });

  it('needs a consent for a payment', async () => {
    const account = await grantedAccount(aggregator, shop);
    await expectProblem(pay(payment, account.token), problems.forbidden({ parameter: 'consent' }), shape);
  });
});

describe('a payment whose answer was lost', () => {
  it('stays pending and is sent again under the same key, never a new one', async () => {
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(timeout());
    const { status, body } = await pay();
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ status: 'PENDING', id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    later(2);
    await aggregator.get(PaymentFollow).poll(body.data.id);
    expect(new Set(keysSent())).toEqual(new Set([body.data.id]));
    expect(keysSent()).toHaveLength(2);
    expect(await stored()).toMatchObject([{ status: 'COMPLETED', institution_payment_id: 'pv3-1' }]);
  });

  it('is found by our id, by its lifecycle id and then by the bank’s', async () => {
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(timeout());
    const { id, paymentLifecycleId } = (await pay()).body.data;
    expect(await detailsOf(id)).toMatchObject({ status: 'PENDING', id });
    later(2);
    expect(await detailsOf(paymentLifecycleId ?? '')).toMatchObject({ id: 'pv3-1', status: 'COMPLETED' });
    expect(await detailsOf(id)).toMatchObject({ id: 'pv3-1' });
    expect(await detailsOf('pv3-1')).toMatchObject({ paymentLifecycleId });
  });

  it('is unknown where the protocol has no key to send it again with', async () => {
    scriptInstitution(aggregator, { ...bank, resendable: false });
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(timeout());
    expect((await pay()).body.data.status).toBe('UNKNOWN');
    later(3_600);
    expect(await isDue()).toBe(false);
  });

  it('is sent by a later look when the process crashed before the bank was asked', async () => {
    vi.spyOn(aggregator.get(PaymentFollow), 'send').mockRejectedValueOnce(new Error('crash'));
    expect((await pay()).status).toBe(500);
    expect(await stored()).toMatchObject([{ status: 'PENDING' }]);
    expect(await consentStatus()).toBe('CONSUMED');
    expect(await isDue()).toBe(false);
    later(120);
    expect(await isDue()).toBe(true);
    const id = String((await stored())[0]?.['id']);
    await aggregator.get(PaymentFollow).poll(id);
    expect(keysSent()).toEqual([id]);
    expect(await stored()).toMatchObject([{ status: 'COMPLETED' }]);
  });

  it('is not sent again once the bank may have forgotten the key', async () => {
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(timeout());
    const { id } = (await pay()).body.data;
    later(23 * 3_600);
    await aggregator.get(PaymentFollow).poll(id);
    expect(keysSent()).toHaveLength(1);
    expect(await stored()).toMatchObject([{ status: 'UNKNOWN', next_poll_at: null }]);
  });

  it('is not taken for failed because its consent is spent by the time it is sent again', async () => {
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(timeout());
    const { id } = (await pay()).body.data;
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(
      new InstitutionError('consent-gone', 'Consumed'),
    );
    later(2);
    await aggregator.get(PaymentFollow).poll(id);
    expect(await stored()).toMatchObject([{ status: 'PENDING' }]);
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(new InstitutionError('rejected', 'No funds'));
    later(5);
    await aggregator.get(PaymentFollow).poll(id);
    expect(await stored()).toMatchObject([{ status: 'FAILED' }]);
  });

  it('is sent again under the same key when the process crashed before the answer was recorded', async () => {
    vi.spyOn(aggregator.get(PaymentRecord), 'record').mockRejectedValueOnce(new Error('crash'));
    expect((await pay()).status).toBe(500);
    later(120);
    await aggregator.get(PaymentFollow).poll(String((await stored())[0]?.['id']));
    expect(keysSent()).toHaveLength(2);
    expect(new Set(keysSent()).size).toBe(1);
    expect(await stored()).toMatchObject([{ status: 'COMPLETED' }]);
  });
});

describe('a consent and its payment', () => {
  it('are consumed and recorded together or not at all', async () => {
    await asOwner(aggregator, 'ALTER TABLE aggregator.payments ADD CONSTRAINT none CHECK (false) NOT VALID');
    try {
      expect((await pay()).status).toBe(500);
    } finally {
      await asOwner(aggregator, 'ALTER TABLE aggregator.payments DROP CONSTRAINT none');
    }
    expect(await consentStatus()).toBe('AUTHORIZED');
    expect((await pay()).status).toBe(201);
  });
});

describe('following a payment', () => {
  const poll = async () => {
    const [row] = await stored();
    await aggregator.get(PaymentFollow).poll(String(row?.['id']));
  };

  it('goes on until the bank has nothing more to say, and publishes each change once', async () => {
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockResolvedValue(bankPayment('PDNG'));
    expect((await pay()).body.data.status).toBe('PENDING');
    const said = bank.operations.EXISTING_PAYMENTS_DETAILS;
    for (const code of ['PDNG', 'ACSP', 'ACSP', 'ACSC', 'ACSC'] as const) {
      said.mockResolvedValueOnce(bankPayment(code));
      later(30);
      await poll();
    }
    expect(said).toHaveBeenCalledTimes(4);
    expect(await stored()).toMatchObject([{ status: 'COMPLETED', iso_status: 'ACSC', next_poll_at: null }]);
    expect(await categories()).toEqual([
      'single_payment.iso_status.updated',
      'single_payment.iso_status.updated',
      'single_payment.status.updated',
      'single_payment.status.completed',
      'single_payment.iso_status.updated',
      'payment.state.success',
    ]);
  });

  it('publishes the payment as the interface shows it', async () => {
    const { data } = (await pay()).body;
    const [event] = await asOwner(
      aggregator,
      `SELECT payload FROM aggregator.events WHERE application_id = '${shop.id}' AND category = 'single_payment.status.completed'`,
    );
    expect(JSON.parse(String(event?.['payload']))).toEqual(data);
  });

  it('does not believe a step back', async () => {
    await pay();
    bank.operations.EXISTING_PAYMENTS_DETAILS.mockResolvedValueOnce(bankPayment('PDNG'));
    later(5);
    await poll();
    expect((await stored())[0]?.['status']).toBe('COMPLETED');
  });

  it('does nothing before it is due, or when another worker is at it', async () => {
    await pay();
    await poll();
    expect(bank.operations.EXISTING_PAYMENTS_DETAILS).not.toHaveBeenCalled();
    later(5);
    await Promise.all([poll(), poll(), poll()]);
    expect(bank.operations.EXISTING_PAYMENTS_DETAILS).toHaveBeenCalledTimes(1);
  });

  it('waits as long as the bank asks, and never guesses from its errors', async () => {
    await pay();
    bank.operations.EXISTING_PAYMENTS_DETAILS.mockRejectedValueOnce(
      new InstitutionError('rate-limited', 'Slow down', { httpStatus: 429, retryAfterMs: 60_000 }),
    );
    later(5);
    await poll();
    expect((await stored())[0]?.['status']).toBe('COMPLETED');
    later(30);
    await poll();
    expect(bank.operations.EXISTING_PAYMENTS_DETAILS).toHaveBeenCalledTimes(1);
    later(31);
    await poll();
    expect(bank.operations.EXISTING_PAYMENTS_DETAILS).toHaveBeenCalledTimes(2);
  });

  it('goes on after the consent was deleted', async () => {
    await pay();
    await aggregator.ask(`DELETE /consents/${consent.id}`, { as: shop });
    later(5);
    await poll();
    expect(await stored()).toMatchObject([{ iso_status: 'ACSC', next_poll_at: null }]);
  });
});

describe('GET /payments/{paymentId}/details', () => {
  it('asks the bank about an open payment, but not twice in a second', async () => {
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockResolvedValue(bankPayment('PDNG'));
    await pay();
    expect(await detailsOf('pv3-1')).toMatchObject({ status: 'PENDING' });
    later(2);
    expect(await detailsOf('pv3-1')).toMatchObject({
      status: 'COMPLETED',
      statusDetails: { isoStatus: { code: 'ACSC' } },
    });
    await detailsOf('pv3-1');
    expect(bank.operations.EXISTING_PAYMENTS_DETAILS).toHaveBeenCalledTimes(1);
  });

  it('shows what is known when the bank does not answer', async () => {
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockResolvedValue(bankPayment('PDNG'));
    await pay();
    bank.operations.EXISTING_PAYMENTS_DETAILS.mockRejectedValue(timeout());
    later(2);
    expect(await detailsOf('pv3-1')).toMatchObject({ status: 'PENDING' });
  });

  it('is 404 for a payment of another consent', async () => {
    await pay();
    await expectProblem(details('pv3-2'), problems.notFound({ parameter: 'paymentId' }), shape);
    const other = await grantedPayment(aggregator, shop, payment);
    await expectProblem(details('pv3-1', other.token), problems.notFound({ parameter: 'paymentId' }), shape);
  });

  it('keeps the payment sealed at rest', async () => {
    await pay();
    expect(JSON.stringify(await stored())).not.toMatch(/12345678|400100|Order 7/);
  });
});
