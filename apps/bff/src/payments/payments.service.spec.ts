import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { PaymentView } from './payment.dto.js';
import { PaymentAuthorisationService } from './payment-authorisation.service.js';
import { PaymentSubmissionService } from './payment-submission.service.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let keys = 0;

const wanted = {
  institutionId: 'bank',
  amount: 12.34,
  currency: 'GBP',
  payee: {
    name: 'Corner Shop Ltd',
    accountIdentifications: [
      { type: 'SORT_CODE', identification: '200001' },
      { type: 'ACCOUNT_NUMBER', identification: '12345678' },
    ],
  },
  reference: 'ORDER-7',
};

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token } = await bff.session(merchant, 'ada'));
});
afterAll(() => bff.close());
beforeEach(() => {
  bff.aggregator.calls.length = 0;
  bff.aggregator.heal();
  bff.aggregator.paymentStatus = 'PENDING';
});

const newKey = (): string => `order-${(keys += 1)}`;
const pay = (body: object = wanted, key: string | undefined = newKey(), as = token) =>
  bff.ask<PaymentView>('POST /v1/payments', { as, body, headers: key === '' ? {} : { 'idempotency-key': key } });
const read = async (id: string): Promise<PaymentView> =>
  (await bff.ask<PaymentView>(`GET /v1/payments/${id}`, { as: token })).body;
const visit = (url: URL) => bff.ask(`GET /${url.pathname.slice(1)}${url.search}`);
const consentOf = (view: PaymentView): string => new URL(view.authorisationUrl ?? '').searchParams.get('consent') ?? '';
const rows = async (): Promise<Record<string, unknown>[]> => (await bff.db.pool.query('select * from payments')).rows;
const submissions = () => bff.aggregator.callsOf('POST /payments');

async function submit(id: string): Promise<void> {
  await bff.get(PaymentSubmissionService).submit(id);
}
async function follow(id: string, hinted = false): Promise<void> {
  const service = bff.get(PaymentSubmissionService);
  const payment = await service.load(id);
  if (payment) await service.follow(payment, { hinted });
}

describe('POST /v1/payments', () => {
  it('stores the intent and asks for the customer’s authorisation', async () => {
    const { status, body } = await pay();
    expect(status).toBe(201);
    expect(body).toMatchObject({
      status: 'AWAITING_AUTHORIZATION',
      amount: 12.34,
      currency: 'GBP',
      reference: 'ORDER-7',
      authorisationUrl: expect.any(String),
    });
    const [call] = bff.aggregator.callsOf('POST /payment-auth-requests');
    expect(call?.headers['sub-application']).toBe(merchant.subApplicationId);
    expect(call?.body).toMatchObject({
      oneTimeToken: true,
      callback: expect.stringMatching(/^http:\/\/bff\.test\/v1\/payments\/callback\?state=[0-9a-f]{64}$/),
      paymentRequest: {
        type: 'DOMESTIC_PAYMENT',
        paymentIdempotencyId: body.id.replaceAll('-', ''),
        amount: { amount: 12.34, currency: 'GBP' },
        payee: wanted.payee,
      },
    });
  });

  it('gives one payment for one key, also when it is sent several times at once', async () => {
    const key = newKey();
    const answers = await Promise.all([1, 2, 3, 4].map(() => pay(wanted, key)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(bff.aggregator.callsOf('POST /payment-auth-requests')).toHaveLength(1);
    expect((await pay(wanted, key)).text).toBe(answers[0]?.text);
  });

  it('refuses the key with another body, or for another customer', async () => {
    const key = newKey();
    await pay(wanted, key);
    const other = await bff.session(merchant, 'bob');
    for (const answer of [await pay({ ...wanted, amount: 12.35 }, key), await pay(wanted, key, other.token)]) {
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('"parameter":"idempotency-key"');
    }
    const another = await bff.merchant('Other Shop');
    expect((await pay(wanted, key, (await bff.session(another, 'ada')).token)).status).toBe(201);
  });

  it('names every faulty member, and leaves no row', async () => {
    const before = (await rows()).length;
    const faults: [object, string][] = [
      [{ ...wanted, amount: 0 }, '/amount'],
      [{ ...wanted, amount: 1.234 }, '/amount'],
      [{ ...wanted, amount: '5' }, '/amount'],
      [{ ...wanted, currency: 'pounds' }, '/currency'],
      [{ ...wanted, payee: { name: 'x', accountIdentifications: [] } }, '/payee/accountIdentifications'],
      [{ ...wanted, institutionId: undefined }, '/institutionId'],
      [{ ...wanted, institutionId: 'unknown' }, '/institutionId'],
      [{ ...wanted, institutionId: undefined, connectionId: '00000000-0000-4000-8000-000000000000' }, '/connectionId'],
    ];
    for (const [body, pointer] of faults) {
      const answer = await pay(body);
      expect({ pointer, status: answer.status }).toEqual({ pointer, status: 400 });
      expect(answer.text).toContain(`"pointer":"${pointer}"`);
    }
    const keyless = await pay(wanted, '');
    expect(keyless.status).toBe(400);
    expect(keyless.text).toContain('idempotency-key');
    expect(await rows()).toHaveLength(before);
  });

  it('tells what the aggregator refuses by the merchant’s own members', async () => {
    const members = ['$.paymentRequest.payee.accountIdentifications[1].identification', 'psu-id', '$.callback'];
    const issues = members.map((parameter) => ({
      type: 'INVALID_REQUEST',
      code: 'INVALID_PROPERTY_UNEXPECTED_VALUE',
      parameter,
      message: `${parameter} is wrong`,
    }));
    bff.aggregator.fail({ route: 'POST /payment-auth-requests', status: 400, body: { error: { issues } } });
    const answer = await pay(wanted);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text).issues).toMatchObject([
      { pointer: '/payee/accountIdentifications/1/identification' },
      { parameter: 'psu-id', message: 'psu-id is wrong' },
    ]);
    const own = { error: { issues: issues.slice(2) } };
    bff.aggregator.fail({ route: 'POST /payment-auth-requests', status: 400, body: own });
    expect(JSON.parse((await pay(wanted)).text)).toMatchObject({ status: 502, title: 'Bad gateway' });
  });

  it('says when an institution does not offer payments', async () => {
    const issues = [{ type: 'INVALID_REQUEST', code: 'FEATURE_NOT_SUPPORTED', message: 'No' }];
    bff.aggregator.fail({ route: 'POST /payment-auth-requests', status: 424, body: { error: { issues } } });
    expect(JSON.parse((await pay(wanted)).text)).toMatchObject({ status: 424, code: 'FEATURE_NOT_SUPPORTED' });
  });

  it('may be tried again with the same key when the aggregator did not answer, but not while a call is at work', async () => {
    const key = newKey();
    bff.aggregator.fail({ route: 'POST /payment-auth-requests' });
    expect((await pay(wanted, key)).status).toBe(503);
    const isAtWork = 'update payments set state_used_at = case when $2 then now() end where idempotency_key = $1';
    await bff.db.pool.query(isAtWork, [key, true]);
    expect(await pay(wanted, key)).toMatchObject({
      status: 409,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    });
    await bff.db.pool.query(isAtWork, [key, false]);
    expect((await pay(wanted, key)).body).toMatchObject({ status: 'AWAITING_AUTHORIZATION' });
  }, 20_000);

  it('pays from the bank of a connection', async () => {
    const connection = await bff.connected(token);
    const { body } = await pay({ ...wanted, institutionId: undefined, connectionId: connection.id });
    expect(body).toMatchObject({ institutionId: 'bank', connectionId: connection.id });
  });
});

describe('an authorised payment', () => {
  it('is submitted once under its own id, however often the callback is hit', async () => {
    const { body } = await pay({ ...wanted, returnUrl: 'https://shop.example/paid' });
    const url = bff.aggregator.approve(consentOf(body));
    const answers = await Promise.all([visit(url), visit(url), visit(url)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect((await visit(url)).headers['location']).toBe(`https://shop.example/paid?payment=${body.id}&status=PENDING`);
    expect(submissions()).toHaveLength(1);
    expect(submissions()[0]?.body['paymentIdempotencyId']).toBe(body.id.replaceAll('-', ''));
    expect(await read(body.id)).toMatchObject({ status: 'PENDING', submittedAt: expect.any(String) });
    expect((await read(body.id)).authorisationUrl).toBeUndefined();
  });

  it('is sent again under the same id when the answer was lost, and paid once', async () => {
    const { body } = await pay();
    bff.aggregator.fail({ route: 'POST /payments', afterWork: true });
    await visit(bff.aggregator.approve(consentOf(body)));
    expect((await read(body.id)).status).toBe('AUTHORIZED');
    await Promise.all([submit(body.id), submit(body.id)]);
    expect((await read(body.id)).status).toBe('PENDING');
    const ids = submissions().map((call) => call.body['paymentIdempotencyId']);
    expect(ids.length).toBeGreaterThanOrEqual(2);
    expect(new Set(ids).size).toBe(1);
    expect([...bff.aggregator.payments.values()].filter((each) => each.paymentIdempotencyId === ids[0])).toHaveLength(
      1,
    );
  });

  it('ends at a plain refusal, and at nothing else', async () => {
    const { body } = await pay();
    bff.aggregator.fail({
      route: 'POST /payments',
      status: 424,
      body: { error: { institutionError: { httpStatusCode: 500 } } },
    });
    await visit(bff.aggregator.approve(consentOf(body)));
    expect((await read(body.id)).status).toBe('AUTHORIZED');
    bff.aggregator.fail({
      route: 'POST /payments',
      status: 424,
      body: { error: { institutionError: { httpStatusCode: 400 } } },
    });
    await submit(body.id);
    expect(await read(body.id)).toMatchObject({ status: 'FAILED', reason: 'refused' });
  });

  it('is followed to its end, and the log tells every step once', async () => {
    const { body } = await pay();
    await visit(bff.aggregator.approve(consentOf(body)));
    const [payment] = [...bff.aggregator.payments.values()].slice(-1);
    await follow(body.id);
    expect((await read(body.id)).status).toBe('PENDING');
    if (payment) Object.assign(payment, { status: 'COMPLETED', statusDetails: { isoStatus: { code: 'ACSC' } } });
    await Promise.all([follow(body.id), follow(body.id), follow(body.id, true)]);
    expect(await read(body.id)).toMatchObject({
      status: 'COMPLETED',
      isoStatus: 'ACSC',
      completedAt: expect.any(String),
    });
    const { body: events } = await bff.ask<{ data: { type: string; data: { paymentId?: string; status?: string } }[] }>(
      'GET /v1/events?limit=500',
      { as: merchant.apiKey },
    );
    const steps = events.data.filter((each) => each.data.paymentId === body.id);
    expect(steps.map((each) => each.data.status)).toEqual([
      'AWAITING_AUTHORIZATION',
      'AUTHORIZED',
      'PENDING',
      'COMPLETED',
    ]);
    expect(steps.at(-1)?.type).toBe('payment.completed');
    if (payment) payment.status = 'PENDING';
    await follow(body.id, true);
    expect((await read(body.id)).status).toBe('COMPLETED');
    if (payment) payment.status = 'FAILED';
    await follow(body.id, true);
    expect((await read(body.id)).status).toBe('FAILED');
  });
});

describe('a payment’s customer', () => {
  it('may refuse', async () => {
    const { body } = await pay();
    await visit(bff.aggregator.deny(consentOf(body)));
    expect(await read(body.id)).toMatchObject({ status: 'REJECTED', reason: 'access-denied' });
    expect(submissions()).toEqual([]);
  });

  it('may not come back, and still has paid when the bank says so', async () => {
    const { body } = await pay();
    bff.aggregator.approve(consentOf(body));
    const payment = await bff.get(PaymentSubmissionService).load(body.id);
    if (payment) await later(3_600_000, () => bff.get(PaymentAuthorisationService).adopt(payment));
    expect((await read(body.id)).status).toBe('PENDING');
    expect(submissions()).toHaveLength(1);
  });

  it('cannot slip another consent’s token under it', async () => {
    const [mine, theirs] = await Promise.all([pay(), pay()]);
    const url = bff.aggregator.approve(consentOf(mine.body));
    url.searchParams.set(
      'one-time-token',
      bff.aggregator.approve(consentOf(theirs.body)).searchParams.get('one-time-token') ?? '',
    );
    await visit(url);
    expect(await read(mine.body.id)).toMatchObject({ status: 'FAILED', reason: 'consent-mismatch' });
    expect(submissions()).toEqual([]);
  });

  it('sees their own payments only', async () => {
    const { body } = await pay();
    const bob = await bff.session(merchant, 'bob');
    expect((await bff.ask(`GET /v1/payments/${body.id}`, { as: bob.token })).status).toBe(404);
    expect((await bff.ask<{ data: PaymentView[] }>('GET /v1/payments', { as: bob.token })).body.data).toEqual([]);
    expect((await bff.ask<{ data: PaymentView[] }>('GET /v1/payments', { as: token })).body.data[0]?.id).toBe(body.id);
  });
});

describe('what is stored of a payment', () => {
  it('has neither token nor account number in clear', async () => {
    const { body } = await pay();
    const consentId = consentOf(body);
    await visit(bff.aggregator.approve(consentId));
    const text = JSON.stringify(await rows());
    expect(text).not.toContain('12345678');
    expect(text).not.toContain(bff.aggregator.consents.get(consentId)?.consentToken);
  });
});
