import { describe, expect, it } from 'vitest';
import { problems, type PaymentRequest } from '#libs/contract';
import { InstitutionError } from '#libs/connectors';
import { asOwner, grantedAccount, grantedPayment } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { bankPayment, scriptInstitution } from '../../../../test/support/scripted-connector.js';
import { scriptedPayment } from '../../../../test/support/scripted-payment.js';

const { world, payment, pay, details, detailsOf, consentStatus, stored, keysSent, categories, later } =
  scriptedPayment();

const shape = { shape: 'minimal' } as const;
const timeout = () => new InstitutionError('timeout', 'No answer');

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
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockImplementation(async () => {
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
    expect(world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT).not.toHaveBeenCalled();
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
    const answers = await Promise.all([pay(), pay({ ...payment, paymentIdempotencyId: 'p2' }), pay()]);
    const [first, second, third] = answers.map(({ status }) => status);
    expect([first, third]).toEqual([201, 201]);
    expect([400, 403]).toContain(second);
    expect(keysSent()).toHaveLength(1);
  });

  it('is failed by the bank’s refusal, for good', async () => {
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValue(
      new InstitutionError('rejected', 'No funds', { httpStatus: 400 }),
    );
    await expectProblem(pay(), problems.institutionFailed({ errorMessage: 'No funds', httpStatusCode: 400 }), shape);
    expect(await stored()).toMatchObject([{ status: 'FAILED', next_poll_at: null }]);
    expect((await pay()).body.data.status).toBe('FAILED');
    expect(keysSent()).toHaveLength(1);
    expect(await categories()).toEqual(['single_payment.status.updated', 'payment.state.failed']);
  });

  it('keeps the consent when the institution cannot make the payment', async () => {
    scriptInstitution(world.aggregator, world.bank, { without: ['CREATE_DOMESTIC_SINGLE_PAYMENT'] });
    await expectProblem(pay(), problems.featureNotSupported(), shape);
    expect(await consentStatus()).toBe('AUTHORIZED');
  });

  it('needs a consent for a payment', async () => {
    const account = await grantedAccount(world.aggregator, world.shop);
    await expectProblem(pay(payment, account.token), problems.forbidden({ parameter: 'consent' }), shape);
  });
});

describe('a consent and its payment', () => {
  it('are consumed and recorded together or not at all', async () => {
    await asOwner(world.aggregator, 'ALTER TABLE aggregator.payments ADD CONSTRAINT none CHECK (false) NOT VALID');
    try {
      expect((await pay()).status).toBe(500);
    } finally {
      await asOwner(world.aggregator, 'ALTER TABLE aggregator.payments DROP CONSTRAINT none');
    }
    expect(await consentStatus()).toBe('AUTHORIZED');
    expect((await pay()).status).toBe(201);
  });
});

describe('GET /payments/{paymentId}/details', () => {
  it('asks the bank about an open payment, but not twice in a second', async () => {
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockResolvedValue(bankPayment('PDNG'));
    await pay();
    expect(await detailsOf('pv3-1')).toMatchObject({ status: 'PENDING' });
    later(2);
    expect(await detailsOf('pv3-1')).toMatchObject({
      status: 'COMPLETED',
      statusDetails: { isoStatus: { code: 'ACSC' } },
    });
    await detailsOf('pv3-1');
    expect(world.bank.operations.EXISTING_PAYMENTS_DETAILS).toHaveBeenCalledTimes(1);
  });

  it('shows what is known when the bank does not answer', async () => {
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockResolvedValue(bankPayment('PDNG'));
    await pay();
    world.bank.operations.EXISTING_PAYMENTS_DETAILS.mockRejectedValue(timeout());
    later(2);
    expect(await detailsOf('pv3-1')).toMatchObject({ status: 'PENDING' });
  });

  it('is 404 for a payment of another consent', async () => {
    await pay();
    await expectProblem(details('pv3-2'), problems.notFound({ parameter: 'paymentId' }), shape);
    const other = await grantedPayment(world.aggregator, world.shop, payment);
    await expectProblem(details('pv3-1', other.token), problems.notFound({ parameter: 'paymentId' }), shape);
  });

  it('keeps the payment sealed at rest', async () => {
    await pay();
    expect(JSON.stringify(await stored())).not.toMatch(/12345678|400100|Order 7/);
  });
});
