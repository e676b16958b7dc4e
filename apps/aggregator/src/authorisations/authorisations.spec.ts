import { describe, expect, it } from 'vitest';
import {
  problems,
  type AccountAuthorisationResponse,
  type ApplicationUser,
  type Consent,
  type Envelope,
  type PaymentAuthorisationRequestResponse,
} from '#libs/contract';
import { InstitutionError } from '#libs/connectors';
import { callback, domesticPayment } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { scriptedInstitution, scriptInstitution } from '../../../../test/support/scripted-connector.js';
import { scriptedShop } from '../../../../test/support/scripted-shop.js';

const world = scriptedShop();

const asked = { institutionId: scriptedInstitution.id, applicationUserId: 'ann', callback };
const begin = (body: object) =>
  world.aggregator.ask<Envelope<AccountAuthorisationResponse>>('POST /account-auth-requests', { as: world.shop, body });
const beginPayment = (body: object) =>
  world.aggregator.ask<Envelope<PaymentAuthorisationRequestResponse>>('POST /payment-auth-requests', {
    as: world.shop,
    body,
  });
const consents = async () =>
  (await world.aggregator.ask<Envelope<Consent[]>>('GET /consents', { as: world.shop })).body.data;
const unexpected = (...parameters: string[]) =>
  problems.unexpectedValues(
    parameters.map((parameter) => ({ type: 'INVALID_REQUEST', code: 'INVALID_PROPERTY_UNEXPECTED_VALUE', parameter })),
  );

describe('an account authorisation', () => {
  it('answers with a consent that awaits its user, and the address at the bank', async () => {
    const { status, body } = await begin(asked);
    expect(status).toBe(201);
    const { data } = body;
    expect(data).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      applicationUserId: 'ann',
      institutionId: scriptedInstitution.id,
      status: 'AWAITING_AUTHORIZATION',
      state: expect.stringMatching(/^[0-9a-f]{32}$/),
      institutionConsentId: 'aac-1',
      featureScope: expect.arrayContaining(['ACCOUNT', 'ACCOUNTS', 'ACCOUNT_BALANCES', 'ACCOUNT_TRANSACTIONS']),
    });
    expect(data.authorisationUrl).toBe(`https://bank.test/authorise?state=${data.state}`);
    expect(data.timeToExpire).toMatch(/^P(90D|89DT23H59M)/);
    expect(data.consentToken).toBeUndefined();
    expect(world.bank.operations.INITIATE_ACCOUNT_REQUEST.mock.calls[0]?.[1]).toMatchObject({
      state: data.state,
      redirectUri: 'https://aggregator.test/callback',
    });
  });

  it('finds the user of a known reference and makes the user of a new one', async () => {
    const first = (await begin(asked)).body.data.userUuid;
    expect((await begin(asked)).body.data.userUuid).toBe(first);
    expect((await begin({ ...asked, applicationUserId: undefined, userUuid: first })).body.data.userUuid).toBe(first);
    const users = await world.aggregator.ask<ApplicationUser[]>('GET /users', { as: world.shop });
    expect(users.body.map(({ applicationUserId }) => applicationUserId)).toEqual(['ann']);
  });

  it.each([
    [{ callback: 'https://elsewhere.test/cb' }, '$.callback'],
    [{ callback: undefined, oneTimeToken: true }, '$.oneTimeToken'],
    [{ redirect: { url: 'https://shop.test/own' } }, '$.redirect'],
    [{ accountRequest: { featureScope: ['ACCOUNT_REQUEST_DETAILS'] } }, '$.accountRequest.featureScope'],
    [{ accountRequest: { expiresAt: '2020-01-01T00:00:00Z' } }, '$.accountRequest.expiresAt'],
    [{ applicationUserId: undefined }, '$.userUuid'],
  ])('refuses %j by name, asks no bank and writes nothing', async (changes, parameter) => {
    await expectProblem(begin({ ...asked, ...changes }), unexpected(parameter), { shape: 'minimal' });
    expect(world.bank.operations.INITIATE_ACCOUNT_REQUEST).not.toHaveBeenCalled();
    expect(await consents()).toEqual([]);
  });

  it('answers 404 for an unknown institution and an unknown user', async () => {
    const unknown = begin({ ...asked, institutionId: 'nowhere' });
    await expectProblem(unknown, problems.notFound({ parameter: '$.institutionId' }), { shape: 'minimal' });
    const userUuid = '00000000-0000-4000-8000-000000000000';
    const stranger = begin({ ...asked, applicationUserId: undefined, userUuid });
    await expectProblem(stranger, problems.notFound({ parameter: 'userUuid' }), { shape: 'minimal' });
  });

  it('names the PSU header that the bank cannot do without', async () => {
    scriptInstitution(world.aggregator, world.bank, { requiredPsuHeaders: ['id'] });
    await expectProblem(begin(asked), unexpected('psu-id'), { shape: 'minimal' });
  });

  it('passes on what the caller knows of the user', async () => {
    await world.aggregator.ask('POST /account-auth-requests', {
      as: world.shop,
      body: asked,
      headers: { 'psu-ip-address': '192.0.2.7' },
    });
    expect(world.bank.operations.INITIATE_ACCOUNT_REQUEST.mock.calls[0]?.[0].psu).toEqual({ ipAddress: '192.0.2.7' });
  });

  it('leaves no consent when the bank fails', async () => {
    world.bank.operations.INITIATE_ACCOUNT_REQUEST.mockRejectedValue(
      new InstitutionError('unavailable', 'Down for maintenance', { httpStatus: 500 }),
    );
    const failed = problems.institutionFailed({ errorMessage: 'Down for maintenance', httpStatusCode: 500 });
    await expectProblem(begin(asked), failed, { shape: 'minimal' });
    expect(await consents()).toEqual([]);
  });

  it('is answered 424 where the institution cannot do it', async () => {
    const { INITIATE_ACCOUNT_REQUEST: _without, ...operations } = world.bank.operations;
    scriptInstitution(world.aggregator, { ...world.bank, operations });
    await expectProblem(begin(asked), problems.featureNotSupported(), { shape: 'minimal' });
  });
});

describe('a payment authorisation', () => {
  const payment = domesticPayment('p1');
  const body = { ...asked, paymentRequest: payment };

  it('is scoped to the payment and its details', async () => {
    const { status, body: answer } = await beginPayment(body);
    expect(status).toBe(201);
    expect(answer.data).toMatchObject({
      status: 'AWAITING_AUTHORIZATION',
      institutionConsentId: 'sdp-1',
      featureScope: [
        'EXISTING_PAYMENTS_DETAILS',
        'EXISTING_PAYMENT_INITIATION_DETAILS',
        'CREATE_DOMESTIC_SINGLE_PAYMENT',
      ],
    });
    const [, sent, access] = world.bank.operations.INITIATE_DOMESTIC_SINGLE_PAYMENT.mock.calls[0] ?? [];
    expect(sent).toEqual(payment);
    expect(access?.idempotencyKey).toBe(answer.data.id);
  });

  it('refuses a payment that is not in order, naming every fault', async () => {
    const faulty = { ...payment, amount: { amount: 1.001, currency: 'GBP' }, type: 'DOMESTIC_SCHEDULED_PAYMENT' };
    const expected = unexpected('$.paymentRequest.paymentDateTime', '$.paymentRequest.amount.amount');
    await expectProblem(beginPayment({ ...body, paymentRequest: faulty }), expected, { shape: 'minimal' });
  });

  it('is answered 424 for a type the institution does not offer', async () => {
    const instant = { ...payment, type: 'DOMESTIC_INSTANT_PAYMENT' };
    await expectProblem(beginPayment({ ...body, paymentRequest: instant }), problems.featureNotSupported(), {
      shape: 'minimal',
    });
  });
});
