import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { problems, type Consent, type Envelope, PreAuthorisationResponse } from '#libs/contract';
import { InstitutionError, type Grant, type Operations, type Step } from '#libs/connectors';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { applicationWithCallback, callback, comeBack, grantedAccount } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import {
  scriptedConnector,
  scriptedInstitution,
  scriptInstitution,
  type ScriptedConnector,
} from '../../../../test/support/scripted-connector.js';
import type { IssuedKey } from '../applications/application-keys.service.js';

type Initiate = Operations['INITIATE_PRE_AUTHORISATION'];
type InitiatePayment = Operations['INITIATE_ONETIME_PRE_AUTHORISATION_PAYMENTS'];

let aggregator: TestAggregator;
let bank: ScriptedConnector;
let initiate: ReturnType<typeof vi.fn<Initiate>>;
let initiatePayment: ReturnType<typeof vi.fn<InitiatePayment>>;
let shop: IssuedKey;

const pending: Grant = { institutionConsentId: 'pre-1', state: { verifier: 'v' } };

beforeAll(async () => {
  aggregator = await TestAggregator.start();
});
afterAll(() => aggregator.close());
beforeEach(async () => {
  bank = scriptedConnector();
  initiate = vi.fn<Initiate>(async (_call, { state }) => {
    return { kind: 'redirect', url: `https://bank.test/identify?state=${state}`, pending };
  });
  initiatePayment = vi.fn<InitiatePayment>(async (_call, { state }) => {
    return { kind: 'redirect', url: `https://bank.test/identify?state=${state}`, pending };
  });
  const operations = {
    ...bank.operations,
    INITIATE_PRE_AUTHORISATION: initiate,
    INITIATE_ONETIME_PRE_AUTHORISATION_PAYMENTS: initiatePayment,
  };
  scriptInstitution(aggregator, { ...bank, operations });
  shop = await applicationWithCallback(aggregator);
});

const shape = { shape: 'minimal' } as const;
const asked = { institutionId: scriptedInstitution.id, applicationUserId: 'ann', callback };
const begin = (changes: object = {}) =>
  aggregator.ask<Envelope<PreAuthorisationResponse>>('POST /pre-auth-requests', {
    as: shop,
    body: { ...asked, scope: 'AIS', ...changes },
  });
const proceed = (token: string, changes: object = {}) =>
  aggregator.ask<Envelope<PreAuthorisationResponse>>('PUT /account-auth-requests', {
    as: shop,
    headers: { consent: token },
    body: { ...asked, ...changes },
  });
const get = async (id: string) =>
  (await aggregator.ask<Envelope<Consent>>(`GET /consents/${id}`, { as: shop })).body.data;
const nextStep = (step: Step) => bank.proceed.mockResolvedValueOnce(step);

async function preAuthorised(changes: object = {}): Promise<{ id: string; token: string; state: string }> {
  const { id, state = '' } = (await begin(changes)).body.data;
  const { location } = await comeBack(aggregator, { code: 'c-1', state });
  return { id, token: location?.searchParams.get('consent') ?? '', state };
}

describe('a pre-authorisation', () => {
  it('lets the bank know its user, then asks for access under the same consent and token', async () => {
    const { status, body } = await begin();
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      status: 'AWAITING_PRE_AUTHORIZATION',
      featureScope: ['INITIATE_PRE_AUTHORISATION'],
      authorisationUrl: `https://bank.test/identify?state=${body.data.state}`,
      qrCodeUrl: expect.any(String),
    });
    expectShape(PreAuthorisationResponse, body.data);
    expect(initiate.mock.calls[0]?.[1]).toMatchObject({ scope: 'AIS', state: body.data.state });

    const { location } = await comeBack(aggregator, { code: 'c-1', state: body.data.state ?? '' });
    const token = location?.searchParams.get('consent') ?? '';
    const { id } = body.data;
    expect(await get(id)).toMatchObject({ status: 'PRE_AUTHORIZED', consentToken: token });
    const data = aggregator.ask('GET /accounts', { as: shop, headers: { consent: token } });
    await expectProblem(data, problems.consentNotAuthorised({ parameter: 'consent' }), shape);

    const second = await proceed(token, { accountRequest: { featureScope: ['ACCOUNTS'] } });
    expect(second.status).toBe(200);
    const { state = '' } = second.body.data;
    expect(second.body.data).toMatchObject({
      id,
      status: 'AWAITING_AUTHORIZATION',
      featureScope: ['INITIATE_PRE_AUTHORISATION', 'ACCOUNTS'],
      authorisationUrl: `https://bank.test/authorise?state=${state}`,
      timeToExpire: expect.any(String),
    });
    expect(bank.operations.INITIATE_ACCOUNT_REQUEST.mock.calls[0]?.[1]).toMatchObject({
      featureScope: ['ACCOUNTS'],
      preAuthorised: { institutionConsentId: 'pre-1', state: { refreshToken: 'r-1' } },
    });
    expect(await get(id)).not.toHaveProperty('consentToken');

    const done = await comeBack(aggregator, { code: 'c-2', state });
    expect(done.location?.searchParams.get('consent')).toBe(token);
    expect((await get(id)).status).toBe('AUTHORIZED');
    expect((await aggregator.ask('GET /accounts', { as: shop, headers: { consent: token } })).status).toBe(200);
  });

  it('may happen on another device', async () => {
    initiate.mockResolvedValueOnce({ kind: 'decoupled', message: 'See your phone', pending });
    const { id, status } = (await begin()).body.data;
    expect(status).toBe('AWAITING_DECOUPLED_PRE_AUTHORIZATION');
    nextStep({ kind: 'authorised', grant: pending });
    const { consentToken = '', status: then } = await get(id);
    expect(then).toBe('PRE_AUTHORIZED');
    bank.operations.INITIATE_ACCOUNT_REQUEST.mockResolvedValueOnce({ kind: 'decoupled', message: 'Again', pending });
    const second = await proceed(consentToken);
    expect(second.body.data.status).toBe('AWAITING_DECOUPLED_AUTHORIZATION');
    expect(second.body.data).not.toHaveProperty('authorisationUrl');
  });

  it('is rejected and fails like any other', async () => {
    const refused = (await begin()).body.data;
    await comeBack(aggregator, { error: 'access_denied', state: refused.state ?? '' });
    expect((await get(refused.id)).status).toBe('REJECTED');
    const unreadable = (await begin()).body.data;
    bank.proceed.mockRejectedValueOnce(new InstitutionError('malformed', 'No token in the answer'));
    await comeBack(aggregator, { code: 'c', state: unreadable.state ?? '' });
    expect((await get(unreadable.id)).status).toBe('UNKNOWN');
  });

  it('stays where it is when the second step does not come about', async () => {
    const { id, token } = await preAuthorised();
    bank.operations.INITIATE_ACCOUNT_REQUEST.mockRejectedValueOnce(new InstitutionError('unavailable', 'Down'));
    await expectProblem(proceed(token), problems.institutionFailed({ errorMessage: 'Down' }), shape);
    expect((await get(id)).status).toBe('PRE_AUTHORIZED');
    expect((await proceed(token)).status).toBe(200);
  });

  it.each([
    [{ institutionId: 'elsewhere' }, '$.institutionId'],
    [{ applicationUserId: 'bob' }, '$.applicationUserId'],
    [{ accountRequest: { featureScope: [] } }, '$.accountRequest.featureScope'],
    [{ callback: 'https://elsewhere.test/' }, '$.callback'],
  ])('is not continued with %j', async (changes, parameter) => {
    const { token } = await preAuthorised();
    await expectProblem(proceed(token, changes), problems.unexpectedValue({ parameter }), shape);
  });

  it('is continued once, and only where it has been pre-authorised for data', async () => {
    const refused = problems.unexpectedValue({ parameter: 'consent' });
    const { token } = await preAuthorised();
    await proceed(token);
    await expectProblem(proceed(token), refused, shape);
    const plain = await grantedAccount(aggregator, shop);
    await expectProblem(proceed(plain.token), refused, shape);
    const payment = await preAuthorised({ scope: 'PIS' });
    await expectProblem(proceed(payment.token), refused, shape);
  });

  it('refuses a scope that is none', async () => {
    for (const scope of [undefined, 'CBPII']) {
      await expectProblem(begin({ scope }), problems.unexpectedValue({ parameter: '$.scope' }), shape);
    }
  });

  it('is answered 424 where the institution cannot do it', async () => {
    scriptInstitution(aggregator, bank);
    await expectProblem(begin(), problems.featureNotSupported(), shape);
    await expectProblem(beginPayment(), problems.featureNotSupported(), shape);
  });
});

const payment = {
  ...asked,
  scope: 'PIS',
  payee: { name: 'Shop', country: 'IT', accountIdentifications: [{ type: 'IBAN', identification: 'IT1' }] },
  payer: { accountIdentifications: [{ type: 'IBAN', identification: 'IT2' }] },
  amount: { amount: 1, currency: 'EUR' },
  reference: 'Order 7',
};
const beginPayment = (changes: object = {}) =>
  aggregator.ask<Envelope<PreAuthorisationResponse>>('POST /payment-pre-auth-requests', {
    as: shop,
    body: { ...payment, ...changes },
  });

describe('a pre-authorisation of one payment', () => {
  it('begins at the bank, and ends with a token once the user has been there', async () => {
    const { status, body } = await beginPayment();
    expect(status).toBe(201);
    expectShape(PreAuthorisationResponse, body.data);
    expect(body.data).toMatchObject({
      status: 'AWAITING_PRE_AUTHORIZATION',
      featureScope: ['INITIATE_ONETIME_PRE_AUTHORISATION_PAYMENTS'],
      authorisationUrl: expect.stringContaining('https://bank.test/identify') as string,
    });
    expect(initiatePayment).toHaveBeenCalledOnce();
    expect(initiate).not.toHaveBeenCalled();
    const { id, state = '' } = body.data;
    const { location } = await comeBack(aggregator, { code: 'c-1', state });
    const token = location?.searchParams.get('consent') ?? '';
    expect(await get(id)).toMatchObject({ status: 'PRE_AUTHORIZED', consentToken: token });
    await expectProblem(proceed(token), problems.unexpectedValue({ parameter: 'consent' }), shape);
  });

  it.each([
    ['$.scope', { scope: 'AIS' }],
    ['$.reference', { reference: undefined }],
    ['$.reference', { reference: 'x'.repeat(19) }],
    ['$.payee.country', { payee: { ...payment.payee, country: undefined } }],
    ['$.payer', { payer: undefined }],
    ['$.amount.amount', { amount: { amount: 0, currency: 'EUR' } }],
  ])('refuses a faulty %s before the bank is asked', async (parameter, changes) => {
    await expectProblem(beginPayment(changes), problems.unexpectedValue({ parameter }), shape);
    expect(initiatePayment).not.toHaveBeenCalled();
  });
});

describe('an authorisation by several users', () => {
  const further: Step = { kind: 'further-authorisation', pending };

  async function firstAgreed(changes: object = {}): Promise<{ id: string; location?: URL; page: string }> {
    const { body } = await aggregator.ask<Envelope<Consent>>('POST /account-auth-requests', {
      as: shop,
      body: { ...asked, ...changes },
    });
    nextStep(further);
    const { id, state = '' } = body.data;
    return { id, ...(await comeBack(aggregator, { code: 'c-1', state })) };
  }

  it('waits for the others after the first, without a token, until all have agreed', async () => {
    const { id, location } = await firstAgreed();
    expect([...(location?.searchParams.keys() ?? [])]).toEqual(['application-user-id', 'user-uuid', 'institution']);
    nextStep(further);
    const waiting = await get(id);
    expect(waiting.status).toBe('AWAITING_FURTHER_AUTHORIZATION');
    expect(waiting).not.toHaveProperty('consentToken');
    await vi.waitFor(
      async () => {
        nextStep({ kind: 'authorised', grant: { ...pending, state: {} } });
        expect(await get(id)).toMatchObject({ status: 'AUTHORIZED', consentToken: expect.any(String) });
      },
      { timeout: 15_000, interval: 250 },
    );
  });

  it('ends when one of them refuses', async () => {
    const { id } = await firstAgreed();
    nextStep({ kind: 'rejected', reason: 'The second authoriser declined' });
    expect((await get(id)).status).toBe('REJECTED');
  });

  it('tells the first user that others must agree', async () => {
    const { page } = await firstAgreed({ callback: undefined });
    expect(page).toContain('One more approval is needed');
  });
});
