import { describe, expect, it } from 'vitest';
import { AccountAuthorisationResponse, problems, type Consent, type Envelope } from '#libs/contract';
import { InstitutionError } from '#libs/connectors';
import { now, setClock } from '#libs/server';
import {
  comeBack,
  domesticPayment,
  grantedAccount,
  grantedPayment,
  type Granted,
} from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import { scriptedInstitution, scriptInstitution } from '../../../../test/support/scripted-connector.js';
import { ConsentSweep } from '../consents/consent-sweep.service.js';
import { scriptedShop } from '../../../../test/support/scripted-shop.js';

const world = scriptedShop();

const shape = { shape: 'minimal' } as const;
const renew = (token: string, headers: Record<string, string> = {}) =>
  world.aggregator.ask<Envelope<AccountAuthorisationResponse>>('PATCH /account-auth-requests', {
    as: world.shop,
    headers: { consent: token, ...headers },
  });
const consentOf = async (id: string) =>
  (await world.aggregator.ask<Envelope<Consent>>(`GET /consents/${id}`, { as: world.shop })).body.data;
const read = (token: string) => world.aggregator.ask('GET /accounts', { as: world.shop, headers: { consent: token } });
const inDays = (days: number) => {
  const at = new Date(now().getTime() + days * 86_400_000);
  setClock(() => at);
};

async function renewed(granted: Granted): Promise<{ state: string; url: string }> {
  const { status, body } = await renew(granted.token);
  expect(status).toBe(201);
  expect(body.data).toMatchObject({ id: granted.id, status: 'AWAITING_RE_AUTHORIZATION' });
  expectShape(AccountAuthorisationResponse, body.data);
  return { state: body.data.state ?? '', url: body.data.authorisationUrl ?? '' };
}

describe('a re-authorisation', () => {
  it('keeps id and token, and asks the bank for the same consent under a new state', async () => {
    const granted = await grantedAccount(world.aggregator, world.shop);
    const before = await consentOf(granted.id);
    const { state, url } = await renewed(granted);
    expect(state).not.toBe(granted.state);
    expect(url).toBe(`https://bank.test/authorise?state=${state}`);
    expect(world.bank.operations.INITIATE_ACCOUNT_REQUEST.mock.calls[1]?.[1]).toMatchObject({
      state,
      featureScope: before.featureScope,
      renews: { institutionConsentId: 'aac-1', state: { refreshToken: 'r-1' } },
    });
    await expectProblem(read(granted.token), problems.consentNotAuthorised({ parameter: 'consent' }), shape);

    inDays(1);
    const { location } = await comeBack(world.aggregator, { code: 'c-2', state });
    expect(location?.searchParams.get('consent')).toBe(granted.token);
    const after = await consentOf(granted.id);
    expect(after).toMatchObject({ status: 'AUTHORIZED', consentToken: granted.token });
    for (const clock of ['authorizedAt', 'lastConfirmedAt', 'reconfirmBy', 'expiresAt'] as const) {
      expect(Date.parse(after[clock] ?? '')).toBeGreaterThan(Date.parse(before[clock] ?? ''));
    }
    expect((await read(granted.token)).status).toBe(200);
  });

  it('brings an expired consent back, as a new one at the bank when the old one has ended there', async () => {
    world.bank.proceed.mockImplementation(async (_call, held) => {
      const expiresAt = new Date(now().getTime() + 86_400_000);
      return { kind: 'authorised', grant: { ...held, expiresAt, state: {} } };
    });
    const granted = await grantedAccount(world.aggregator, world.shop);
    inDays(2);
    await world.aggregator.get(ConsentSweep).run();
    expect((await consentOf(granted.id)).status).toBe('EXPIRED');
    const { state } = await renewed(granted);
    expect(world.bank.operations.INITIATE_ACCOUNT_REQUEST.mock.calls[1]?.[1]).not.toHaveProperty('renews');
    await comeBack(world.aggregator, { code: 'c-2', state });
    expect((await consentOf(granted.id)).status).toBe('AUTHORIZED');
    expect((await read(granted.token)).status).toBe(200);
  });

  it('that is refused leaves the consent what it was', async () => {
    const granted = await grantedAccount(world.aggregator, world.shop);
    const before = await consentOf(granted.id);
    const { state } = await renewed(granted);
    const { location } = await comeBack(world.aggregator, { error: 'access_denied', state });
    expect(location?.searchParams.get('error')).toBe('access_denied');
    expect(await consentOf(granted.id)).toEqual({ ...before, state, timeToExpire: expect.any(String) });
    expect((await read(granted.token)).status).toBe(200);
  });

  it('that fails leaves an expired consent expired', async () => {
    const granted = await grantedAccount(world.aggregator, world.shop);
    inDays(91);
    await world.aggregator.get(ConsentSweep).run();
    const { state } = await renewed(granted);
    world.bank.proceed.mockRejectedValueOnce(new InstitutionError('unavailable', 'Down'));
    await comeBack(world.aggregator, { code: 'c', state });
    expect((await consentOf(granted.id)).status).toBe('EXPIRED');
  });

  it('that nobody answers within a day leaves the consent what it was', async () => {
    const granted = await grantedAccount(world.aggregator, world.shop);
    const { state } = await renewed(granted);
    inDays(1);
    await world.aggregator.get(ConsentSweep).run();
    expect((await consentOf(granted.id)).status).toBe('AUTHORIZED');
    expect((await comeBack(world.aggregator, { code: 'late', state })).page).toContain('Already done');
  });

  it('is refused for payments, for consents that are awaited, and for any that have ended', async () => {
    const refused = problems.unexpectedValue({ parameter: 'consent' });
    const payment = await grantedPayment(world.aggregator, world.shop, domesticPayment('p1'));
    await expectProblem(renew(payment.token), refused, shape);
    const granted = await grantedAccount(world.aggregator, world.shop);
    await renewed(granted);
    await expectProblem(renew(granted.token), refused, shape);
    const gone = await grantedAccount(world.aggregator, world.shop);
    world.bank.operations.ACCOUNTS.mockRejectedValueOnce(new InstitutionError('consent-gone', 'Revoked'));
    await read(gone.token);
    expect((await consentOf(gone.id)).status).toBe('REVOKED');
    await expectProblem(renew(gone.token), refused, shape);
  });

  it('needs the token, and the PSU headers that the bank cannot do without', async () => {
    const granted = await grantedAccount(world.aggregator, world.shop);
    const without = world.aggregator.ask('PATCH /account-auth-requests', { as: world.shop });
    await expectProblem(without, problems.badRequest({ parameter: 'consent' }), shape);
    await expectProblem(renew('invented'), problems.consentUnknown({ parameter: 'consent' }), shape);
    scriptInstitution(world.aggregator, world.bank, { requiredPsuHeaders: ['id'] });
    await expectProblem(renew(granted.token), problems.unexpectedValue({ parameter: 'psu-id' }), shape);
    expect((await renew(granted.token, { 'psu-id': 'ann' })).status).toBe(201);
  });

  it('changes nothing when the bank does not take part', async () => {
    const granted = await grantedAccount(world.aggregator, world.shop);
    world.bank.operations.INITIATE_ACCOUNT_REQUEST.mockRejectedValueOnce(new InstitutionError('unavailable', 'Down'));
    await expectProblem(renew(granted.token), problems.institutionFailed({ errorMessage: 'Down' }), shape);
    world.bank.operations.INITIATE_ACCOUNT_REQUEST.mockResolvedValueOnce({ kind: 'rejected', reason: 'No' });
    await expectProblem(renew(granted.token), problems.institutionFailed({ errorMessage: 'No' }), shape);
    world.bank.operations.INITIATE_ACCOUNT_REQUEST.mockResolvedValueOnce({
      kind: 'decoupled',
      message: 'See your phone',
      pending: { institutionConsentId: 'aac-2', state: {} },
    });
    await expectProblem(renew(granted.token), problems.featureNotSupported(), shape);
    expect((await consentOf(granted.id)).status).toBe('AUTHORIZED');
  });

  it('is begun once when two ask at the same time', async () => {
    const granted = await grantedAccount(world.aggregator, world.shop);
    const answers = await Promise.all([1, 2, 3].map(() => renew(granted.token)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status } of answers) expect([201, 400, 409]).toContain(status);
  });
});

describe('POST /consents/{consentId}/extend', () => {
  const extend = (id: string, lastConfirmedAt: unknown) =>
    world.aggregator.ask<Envelope<Consent>>(`POST /consents/${id}/extend`, {
      as: world.shop,
      body: { lastConfirmedAt },
    });

  it('moves the date of confirmation to ninety days after it', async () => {
    const { id, token } = await grantedAccount(world.aggregator, world.shop);
    inDays(30);
    const { status, body } = await extend(id, '2026-07-08T12:00:00.000Z');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id,
      status: 'AUTHORIZED',
      lastConfirmedAt: '2026-07-08T12:00:00.000Z',
      reconfirmBy: '2026-10-06T12:00:00.000Z',
      consentToken: token,
    });
    expect(await consentOf(id)).toMatchObject({ reconfirmBy: '2026-10-06T12:00:00.000Z' });
  });

  it('opens a consent again that was not confirmed in time', async () => {
    const { id, token } = await grantedAccount(world.aggregator, world.shop);
    await extend(id, new Date(now().getTime() - 91 * 86_400_000).toISOString());
    await expectProblem(read(token), problems.consentNotAuthorised({ parameter: 'consent' }), shape);
    await extend(id, now().toISOString());
    expect((await read(token)).status).toBe(200);
  });

  it('refuses an instant in the future, in the words of the interface', async () => {
    const { id } = await grantedAccount(world.aggregator, world.shop);
    const { status, body } = await extend(id, new Date(now().getTime() + 60_000).toISOString());
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: { code: 400, status: 'BAD_REQUEST', message: 'lastConfirmedAt cannot be a future date and time' },
    });
  });

  it('refuses what is no instant, payments, and consents that are not authorised', async () => {
    const { id } = await grantedAccount(world.aggregator, world.shop);
    for (const wrong of [undefined, 'yesterday', 7]) {
      await expectProblem(extend(id, wrong), problems.unexpectedValue({ parameter: '$.lastConfirmedAt' }), shape);
    }
    const at = now().toISOString();
    const payment = await grantedPayment(world.aggregator, world.shop, domesticPayment('p1'));
    await expectProblem(extend(payment.id, at), problems.unexpectedValue({ parameter: 'consentId' }), shape);
    const { body } = await world.aggregator.ask<Envelope<Consent>>('POST /account-auth-requests', {
      as: world.shop,
      body: { institutionId: scriptedInstitution.id, applicationUserId: 'ann' },
    });
    await expectProblem(extend(body.data.id, at), problems.unexpectedValue({ parameter: 'consentId' }), shape);
    const stranger = '00000000-0000-4000-8000-000000000000';
    await expectProblem(extend(stranger, at), problems.notFound({ parameter: 'consentId' }), shape);
  });
});
