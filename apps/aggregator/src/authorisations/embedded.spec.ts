import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  problems,
  type Consent,
  EmbeddedAccountAuthorisationResponse,
  type Envelope,
  type ScaMethod,
} from '#libs/contract';
import { InstitutionError, type Grant, type Operations, type Step } from '#libs/connectors';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { applicationWithCallback, asOwner, grantedAccount } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import {
  scriptedConnector,
  scriptedInstitution,
  scriptInstitution,
  type ScriptedConnector,
} from '../../../../test/support/scripted-connector.js';
import type { IssuedKey } from '../applications/application-keys.service.js';

type Initiate = Operations['INITIATE_EMBEDDED_ACCOUNT_REQUEST'];

let aggregator: TestAggregator;
let bank: ScriptedConnector;
let initiate: ReturnType<typeof vi.fn<Initiate>>;
let shop: IssuedKey;

const pending: Grant = { institutionConsentId: 'bg-1', state: { authorisationId: 'a-1' } };
const sms: ScaMethod = { id: 'm-sms', type: 'SMS_OTP', description: 'SMS to *** 77' };
const chip: ScaMethod = { id: 'm-chip', type: 'CHIP_OTP', description: 'Card reader' };

beforeAll(async () => {
  aggregator = await TestAggregator.start();
});
afterAll(() => aggregator.close());
beforeEach(async () => {
  bank = scriptedConnector();
  initiate = vi.fn<Initiate>(async () => ({ kind: 'choose-method', methods: [sms, chip], pending }));
  const operations = { ...bank.operations, INITIATE_EMBEDDED_ACCOUNT_REQUEST: initiate };
  scriptInstitution(aggregator, { ...bank, operations });
  shop = await applicationWithCallback(aggregator);
});

const shape = { shape: 'minimal' } as const;
const asked = { institutionId: scriptedInstitution.id, applicationUserId: 'ann' };
const userCredentials = { id: 'ann-login', password: 'correct horse' };
type Answer = Envelope<EmbeddedAccountAuthorisationResponse>;
const begin = (changes: object = {}, as = shop) =>
  aggregator.ask<Answer>('POST /embedded-account-auth-requests', {
    as,
    body: { ...asked, userCredentials, ...changes },
  });
const send = (id: string, changes: object, as = shop) =>
  aggregator.ask<Answer>(`PUT /embedded-account-auth-requests/${id}`, { as, body: { ...asked, ...changes } });
const get = async (id: string) =>
  (await aggregator.ask<Envelope<Consent>>(`GET /consents/${id}`, { as: shop })).body.data;
const nextStep = (step: Step) => bank.proceed.mockResolvedValueOnce(step);
const wrongCode = () =>
  bank.proceed.mockRejectedValueOnce(new InstitutionError('unauthorised', 'Wrong code', { httpStatus: 401 }));
const granted: Step = { kind: 'authorised', grant: { ...pending, state: {} } };

async function awaitingCode(): Promise<string> {
  initiate.mockResolvedValueOnce({ kind: 'enter-code', method: sms, pending });
  return (await begin()).body.data.id;
}

describe('an embedded authorisation', () => {
  it('of a user with several methods goes through method and code', async () => {
    const { status, body } = await begin();
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ status: 'AWAITING_SCA_METHOD', scaMethods: [sms, chip] });
    expect(body.data).not.toHaveProperty('authorisationUrl');
    expect(body.data).not.toHaveProperty('selectedScaMethod');
    expect(initiate.mock.calls[0]?.[2]).toEqual(userCredentials);
    const { id } = body.data;

    const challenge: ScaMethod = { ...chip, information: 'Enter 4711 into the reader', data: ['4711'] };
    nextStep({ kind: 'enter-code', method: challenge, pending });
    const chosen = await send(id, { selectedScaMethod: { id: 'm-chip' } });
    expect(chosen.status).toBe(201);
    expect(chosen.body.data).toMatchObject({
      id,
      status: 'AWAITING_SCA_CODE',
      scaMethods: [sms, chip],
      selectedScaMethod: challenge,
    });
    expect(bank.proceed.mock.calls[0]?.[2]).toEqual({ method: chip });

    nextStep(granted);
    const done = await send(id, { scaCode: '123456' });
    expect(done.status).toBe(201);
    expect(done.body.data).toMatchObject({ id, status: 'AUTHORIZED', authorizedAt: expect.any(String) });
    expect(done.body.data).not.toHaveProperty('consentToken');
    for (const answer of [body, chosen.body, done.body]) {
      expectShape(EmbeddedAccountAuthorisationResponse, answer.data);
    }
    expect(bank.proceed.mock.calls[1]?.[2]).toEqual({ code: '123456' });
    const consent = await get(id);
    expect(consent).toMatchObject({ status: 'AUTHORIZED', reconfirmBy: expect.any(String) });
    const headers = { consent: consent.consentToken ?? '' };
    expect((await aggregator.ask('GET /accounts', { as: shop, headers })).status).toBe(200);
  });

  it('of a user with one method starts at the code', async () => {
    initiate.mockResolvedValueOnce({ kind: 'enter-code', method: sms, pending });
    const { body } = await begin();
    expect(body.data).toMatchObject({ status: 'AWAITING_SCA_CODE', scaMethods: [sms], selectedScaMethod: sms });
  });

  it('of a user without one is authorised by the credentials alone', async () => {
    initiate.mockResolvedValueOnce(granted);
    const { status, body } = await begin();
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ status: 'AUTHORIZED', authorizedAt: expect.any(String) });
    expectShape(EmbeddedAccountAuthorisationResponse, body.data);
    expect(await get(body.data.id)).toMatchObject({ status: 'AUTHORIZED', consentToken: expect.any(String) });
  });

  it('remembers which method was chosen where the bank does not repeat it', async () => {
    const { id } = (await begin()).body.data;
    nextStep({ kind: 'enter-code', pending });
    expect((await send(id, { selectedScaMethod: { id: 'm-sms' } })).body.data.selectedScaMethod).toEqual(sms);
  });

  it('goes on with its user’s phone where the chosen method is there', async () => {
    const { id } = (await begin()).body.data;
    nextStep({ kind: 'decoupled', message: 'See your phone', pending });
    const { body } = await send(id, { selectedScaMethod: { id: 'm-sms' } });
    expect(body.data.status).toBe('AWAITING_DECOUPLED_AUTHORIZATION');
    nextStep(granted);
    expect((await get(id)).status).toBe('AUTHORIZED');
  });

  it('leaves no consent when the bank refuses the credentials', async () => {
    initiate.mockRejectedValueOnce(new InstitutionError('unauthorised', 'Unknown user', { httpStatus: 401 }));
    const failed = problems.institutionFailed({ errorMessage: 'Unknown user', httpStatusCode: 401 });
    await expectProblem(begin(), failed, shape);
    expect((await aggregator.ask<Envelope<Consent[]>>('GET /consents', { as: shop })).body.data).toEqual([]);
  });

  it('takes another code after a wrong one, and fails at the third', async () => {
    const id = await awaitingCode();
    const failed = problems.institutionFailed({ errorMessage: 'Wrong code', httpStatusCode: 401 });
    for (const status of ['AWAITING_SCA_CODE', 'AWAITING_SCA_CODE', 'FAILED']) {
      wrongCode();
      await expectProblem(send(id, { scaCode: '000000' }), failed, shape);
      expect((await get(id)).status).toBe(status);
    }
    await expectProblem(send(id, { scaCode: '123456' }), problems.unexpectedValue({ parameter: 'consentId' }), shape);
  });

  it('is authorised by the right code after two wrong ones', async () => {
    const id = await awaitingCode();
    wrongCode();
    await send(id, { scaCode: '1' });
    wrongCode();
    await send(id, { scaCode: '2' });
    nextStep(granted);
    expect((await send(id, { scaCode: '3' })).body.data.status).toBe('AUTHORIZED');
  });

  it('does not count a bank that is down as a wrong code', async () => {
    const id = await awaitingCode();
    for (let time = 0; time < 4; time += 1) {
      bank.proceed.mockRejectedValueOnce(new InstitutionError('unavailable', 'Down', { httpStatus: 503 }));
      expect((await send(id, { scaCode: '1' })).status).toBe(424);
    }
    expect((await get(id)).status).toBe('AWAITING_SCA_CODE');
  });

  it('fails when the bank ends it', async () => {
    const id = await awaitingCode();
    nextStep({ kind: 'rejected', reason: 'Login is locked' });
    const failed = problems.institutionFailed({ errorMessage: 'Login is locked' });
    await expectProblem(send(id, { scaCode: '1' }), failed, shape);
    expect((await get(id)).status).toBe('FAILED');
  });

  it('hands one of two codes at once to the bank', async () => {
    const id = await awaitingCode();
    nextStep(granted);
    const answers = await Promise.all([1, 2, 3].map(() => send(id, { scaCode: '123456' })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(bank.proceed).toHaveBeenCalledTimes(1);
  });

  it('keeps nothing readable of credentials, codes and challenges', async () => {
    initiate.mockResolvedValueOnce({ kind: 'enter-code', method: { ...sms, data: ['readable-challenge'] }, pending });
    const { id } = (await begin()).body.data;
    const [row] = await asOwner(aggregator, `SELECT * FROM aggregator.consents WHERE id = '${id}'`);
    for (const secret of [...Object.values(userCredentials), 'readable-challenge']) {
      expect(JSON.stringify(row)).not.toContain(secret);
    }
  });

  it('cannot be authorised again in a browser', async () => {
    initiate.mockResolvedValueOnce(granted);
    const { consentToken = '' } = await get((await begin()).body.data.id);
    const again = aggregator.ask('PATCH /account-auth-requests', { as: shop, headers: { consent: consentToken } });
    await expectProblem(again, problems.unexpectedValue({ parameter: 'consent' }), shape);
  });

  it.each([
    [{ userCredentials: undefined }, '$.userCredentials'],
    [{ userCredentials: { id: 'ann' } }, '$.userCredentials.password'],
    [{ accountRequest: { expiresAt: '2020-01-01T00:00:00Z' } }, '$.accountRequest.expiresAt'],
  ])('refuses to begin with %j', async (changes, parameter) => {
    await expectProblem(begin(changes), problems.unexpectedValue({ parameter }), shape);
    expect(initiate).not.toHaveBeenCalled();
  });

  it('takes the login out of the credentials where the bank demands the header', async () => {
    const operations = { ...bank.operations, INITIATE_EMBEDDED_ACCOUNT_REQUEST: initiate };
    scriptInstitution(aggregator, { ...bank, operations }, { requiredPsuHeaders: ['id', 'ipAddress'] });
    await expectProblem(begin(), problems.unexpectedValue({ parameter: 'psu-ip-address' }), shape);
  });

  it('is answered 424 where the institution cannot do it', async () => {
    const { INITIATE_ACCOUNT_REQUEST: _other, ...operations } = bank.operations;
    scriptInstitution(aggregator, { ...bank, operations });
    await expectProblem(begin(), problems.featureNotSupported(), shape);
  });
});

describe('the next answer of an embedded authorisation', () => {
  it.each([
    [{ scaCode: '1' }, '$.selectedScaMethod'],
    [{ selectedScaMethod: { id: 'other' } }, '$.selectedScaMethod.id'],
    [{ institutionId: 'elsewhere', selectedScaMethod: { id: 'm-sms' } }, '$.institutionId'],
    [{ applicationUserId: 'bob', selectedScaMethod: { id: 'm-sms' } }, '$.applicationUserId'],
    [{ userUuid: '00000000-0000-4000-8000-000000000000', selectedScaMethod: { id: 'm-sms' } }, '$.userUuid'],
  ])('is refused where a method is awaited: %j', async (changes, parameter) => {
    const { id } = (await begin()).body.data;
    await expectProblem(send(id, changes), problems.unexpectedValue({ parameter }), shape);
    expect(bank.proceed).not.toHaveBeenCalled();
  });

  it('is refused where a code is awaited and none sent', async () => {
    const id = await awaitingCode();
    const withoutCode = send(id, { selectedScaMethod: { id: 'm-sms' } });
    await expectProblem(withoutCode, problems.unexpectedValue({ parameter: '$.scaCode' }), shape);
  });

  it('is refused for a consent that a browser authorises, and unknown to strangers', async () => {
    const { id } = await grantedAccount(aggregator, shop);
    await expectProblem(send(id, { scaCode: '1' }), problems.unexpectedValue({ parameter: 'consentId' }), shape);
    const own = await awaitingCode();
    const other = await applicationWithCallback(aggregator);
    await expectProblem(send(own, { scaCode: '1' }, other), problems.notFound({ parameter: 'consentId' }), shape);
  });
});
