import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Account, AccountAuthorisationResponse, Consent, Envelope, ScaMethod } from '#libs/contract';
import type { IssuedKey } from '../../apps/aggregator/src/applications/application-keys.service.js';
import { ConsentSweep } from '../../apps/aggregator/src/consents/consent-sweep.service.js';
import { TestAggregator } from '../support/aggregator.js';
import { applicationWithCallback, callback, comeBack } from '../support/authorise.js';
import { type SandboxBank, startSandboxBank, type Visit } from '../support/sandbox.js';

/** Every way of authorising, through the interface, the connectors and the pages of the sandbox's banks. */
describe('authorisation at the sandbox banks', () => {
  let sandbox: SandboxBank;
  let aggregator: TestAggregator;
  let shop: IssuedKey;
  let folder: string;

  beforeAll(async () => {
    [sandbox, folder] = await Promise.all([startSandboxBank(), mkdtemp(join(tmpdir(), 'tributary-flows-'))]);
    const file = join(folder, 'tpp.json');
    await writeFile(
      file,
      JSON.stringify(Object.fromEntries(sandbox.institutions.map(({ id }) => [id, sandbox.credentials]))),
    );
    aggregator = await TestAggregator.start({
      env: { SANDBOX_URL: sandbox.url, SANDBOX_TLS_URL: sandbox.tlsUrl, TPP_CREDENTIALS_FILE: file },
    });
    shop = await applicationWithCallback(aggregator);
  });
  afterAll(async () => {
    await Promise.all([aggregator.close(), sandbox.close()]);
    await rm(folder, { recursive: true });
  });

  type Begun = AccountAuthorisationResponse & { scaMethods?: ScaMethod[]; selectedScaMethod?: ScaMethod };
  let nth = 0;
  const person = () => `person-${(nth += 1)}`;
  const ask = async (
    route: `${string} /${string}`,
    { expected, ...asking }: { expected: number; body?: object; headers?: Record<string, string> },
  ): Promise<Begun> => {
    const { status, body } = await aggregator.ask<Envelope<Begun>>(route, { as: shop, ...asking });
    expect({ status, error: status === expected ? undefined : body }).toEqual({ status: expected, error: undefined });
    return body.data;
  };
  const begin = (institution: string, body: object = {}, headers: Record<string, string> = {}) =>
    ask('POST /account-auth-requests', {
      expected: 201,
      headers,
      body: { institutionId: `${institution}-sandbox`, applicationUserId: person(), callback, ...body },
    });
  const visit = async ({ authorisationUrl = '' }: Begun, wish: Visit = {}) => {
    const answer = await sandbox.visit(authorisationUrl, wish);
    return comeBack(aggregator, Object.fromEntries(answer), 'form');
  };
  const consentOf = async (id: string) =>
    (await aggregator.ask<Envelope<Consent>>(`GET /consents/${id}`, { as: shop })).body.data;
  const polled = async (id: string, status: string) => {
    await expect.poll(async () => (await consentOf(id)).status, { timeout: 10_000, interval: 300 }).toBe(status);
    return consentOf(id);
  };
  /** The consent reads accounts. */
  const reads = async (token: string | null | undefined, headers: Record<string, string> = {}) => {
    const { status, body } = await aggregator.ask<Envelope<Account[]>>('GET /accounts', {
      as: shop,
      headers: { consent: token ?? '', ...headers },
    });
    expect({ status, error: status === 200 ? undefined : body }).toEqual({ status: 200, error: undefined });
    expect(body.data.length).toBeGreaterThan(0);
  };
  const tokenOf = ({ location }: { location?: URL }) => location?.searchParams.get('consent');

  it.each(['meridian', 'tamar', 'thistle', 'lindenhof', 'marais'])('by redirect (%s)', async (bank) => {
    const begun = await begin(bank);
    let back = await visit(begun);
    // A bank with a pre-step has its user visit it twice.
    if (back.location?.origin === sandbox.url) {
      back = await visit({ ...begun, authorisationUrl: back.location.href });
    }
    await reads(tokenOf(back));
    expect(await consentOf(begun.id)).toMatchObject({ status: 'AUTHORIZED', timeToExpire: expect.any(String) });
  });

  it.each(['meridian', 'tamar', 'lindenhof'])('refused by the user (%s)', async (bank) => {
    const begun = await begin(bank);
    const { location } = await visit(begun, { decision: 'deny' });
    expect(location?.searchParams.get('error-source')).toBe('user');
    expect((await consentOf(begun.id)).status).toBe('REJECTED');
  });

  it.each(['meridian', 'tamar', 'lindenhof'])('with the client’s own redirect (%s)', async (bank) => {
    const begun = await begin(bank, { callback: undefined, redirect: { url: callback } });
    const { location } = await visit(begun);
    const { code = '', state = '' } = Object.fromEntries(location?.searchParams ?? []);
    const { body } = await aggregator.ask<Consent>('POST /consent-auth-code', {
      as: shop,
      body: { authCode: code, authState: state },
    });
    expect(body).toMatchObject({ id: begun.id, status: 'AUTHORIZED' });
    await reads(body.consentToken);
  });

  it.each(['meridian', 'lindenhof'])('again, under the same id and token (%s)', async (bank) => {
    const first = await begin(bank);
    const token = tokenOf(await visit(first)) ?? '';
    const again = await ask('PATCH /account-auth-requests', { expected: 201, headers: { consent: token } });
    expect(again).toMatchObject({ id: first.id, status: 'AWAITING_RE_AUTHORIZATION' });
    await visit(again, { decision: 'deny' });
    expect((await consentOf(first.id)).status).toBe('AUTHORIZED');
    const third = await ask('PATCH /account-auth-requests', { expected: 201, headers: { consent: token } });
    expect(tokenOf(await visit(third))).toBe(token);
    await reads(token);
  });

  it('in two steps (marais)', async () => {
    const subject = { institutionId: 'marais-sandbox', applicationUserId: person(), callback };
    const first = await ask('POST /pre-auth-requests', { expected: 201, body: { ...subject, scope: 'AIS' } });
    expect(first.status).toBe('AWAITING_PRE_AUTHORIZATION');
    const token = tokenOf(await visit(first)) ?? '';
    expect((await consentOf(first.id)).status).toBe('PRE_AUTHORIZED');
    const headers = { consent: token };
    const second = await ask('PUT /account-auth-requests', { expected: 200, headers, body: subject });
    expect(second).toMatchObject({ id: first.id, status: 'AWAITING_AUTHORIZATION' });
    expect(tokenOf(await visit(second))).toBe(token);
    await reads(token);
  });

  it('for one payment, of which the bank hears later (marais)', async () => {
    const identification = { type: 'IBAN', identification: 'FR7630006000011234567890189' };
    const first = await ask('POST /payment-pre-auth-requests', {
      expected: 201,
      body: {
        institutionId: 'marais-sandbox',
        applicationUserId: person(),
        callback,
        scope: 'PIS',
        payee: { name: 'Librairie', country: 'FR', accountIdentifications: [identification] },
        payer: { accountIdentifications: [identification] },
        amount: { amount: 12.5, currency: 'EUR' },
        reference: 'Commande 7',
      },
    });
    expect(first).toMatchObject({
      status: 'AWAITING_PRE_AUTHORIZATION',
      featureScope: ['INITIATE_ONETIME_PRE_AUTHORISATION_PAYMENTS'],
    });
    expect(new URL(first.authorisationUrl ?? '').searchParams.get('scope')).toBe('PIS');
    const token = tokenOf(await visit(first)) ?? '';
    expect(await consentOf(first.id)).toMatchObject({ status: 'PRE_AUTHORIZED', consentToken: token });
  });

  describe('with credentials (isarkasse)', () => {
    const embedded = async (login: string, changes: object = {}) => {
      const subject = { institutionId: 'isarkasse-sandbox', applicationUserId: person() };
      const userCredentials = { id: login, password: `${login}-sandbox` };
      const body = { ...subject, userCredentials, ...changes };
      const route = 'POST /embedded-account-auth-requests';
      return { subject, begun: await ask(route, { expected: 201, body }) };
    };
    const answer = (id: string, body: object, expected = 201) =>
      ask(`PUT /embedded-account-auth-requests/${id}`, { expected, body });

    it('and no SCA method', async () => {
      const { begun } = await embedded('ben');
      expect(begun.status).toBe('AUTHORIZED');
      await reads((await consentOf(begun.id)).consentToken);
    });

    it('and one SCA method', async () => {
      const { begun, subject } = await embedded('chloe');
      expect(begun).toMatchObject({ status: 'AWAITING_SCA_CODE', selectedScaMethod: { id: expect.any(String) } });
      const done = await answer(begun.id, { ...subject, scaCode: '345678' });
      expect(done.status).toBe('AUTHORIZED');
      await reads((await consentOf(begun.id)).consentToken);
    });

    it('and a choice of SCA methods, each with its challenge', async () => {
      const { begun, subject } = await embedded('ada');
      expect(begun.status).toBe('AWAITING_SCA_METHOD');
      const photo = begun.scaMethods?.find(({ type }) => type === 'PHOTO_OTP');
      const chosen = await answer(begun.id, { ...subject, selectedScaMethod: photo });
      expect(chosen).toMatchObject({ status: 'AWAITING_SCA_CODE', selectedScaMethod: { data: expect.any(Array) } });
      expect(chosen.scaMethods).toHaveLength(begun.scaMethods?.length ?? 0);
      expect((await answer(begun.id, { ...subject, scaCode: '123456' })).status).toBe('AUTHORIZED');
    });

    it('that are wrong, or a code that is wrong three times', async () => {
      const wrong = { userCredentials: { id: 'ada', password: 'wrong' }, applicationUserId: person() };
      const body = { institutionId: 'isarkasse-sandbox', ...wrong };
      const refused = await aggregator.ask('POST /embedded-account-auth-requests', { as: shop, body });
      expect(refused).toMatchObject({ status: 424, body: { error: { source: 'INSTITUTION' } } });
      const { begun, subject } = await embedded('chloe');
      for (const status of ['AWAITING_SCA_CODE', 'AWAITING_SCA_CODE', 'FAILED']) {
        await answer(begun.id, { ...subject, scaCode: '000000' }, 424);
        expect((await consentOf(begun.id)).status).toBe(status);
      }
    });
  });

  it.each(['approve', 'deny'] as const)('on the user’s own device (fjordbank, %s)', async (decision) => {
    const headers = { 'psu-id': 'ada', 'psu-ip-address': '192.0.2.7' };
    const begun = await begin('fjordbank', {}, headers);
    expect(begun.status).toBe('AWAITING_DECOUPLED_AUTHORIZATION');
    expect(begun).not.toHaveProperty('authorisationUrl');
    expect((await consentOf(begun.id)).status).toBe('AWAITING_DECOUPLED_AUTHORIZATION');
    await sandbox.control('decoupled', { bank: 'fjordbank', consentId: begun.institutionConsentId, decision });
    const consent = await polled(begun.id, decision === 'approve' ? 'AUTHORIZED' : 'REJECTED');
    if (decision === 'approve') await reads(consent.consentToken, headers);
  });

  it('reads accounts where the bank tells no balances, and says so of balances (fjordbank)', async () => {
    const headers = { 'psu-id': 'ada', 'psu-ip-address': '192.0.2.7' };
    const begun = await begin('fjordbank', {}, headers);
    const wish = { bank: 'fjordbank', consentId: begun.institutionConsentId, decision: 'approve' };
    await sandbox.control('decoupled', wish);
    const consent = (await polled(begun.id, 'AUTHORIZED')).consentToken ?? '';
    const read = <T>(path: string) =>
      aggregator.ask<Envelope<T>>(`GET /accounts${path}`, { as: shop, headers: { ...headers, consent } });
    const [first] = (await read<Account[]>('')).body.data;
    expect(first).not.toHaveProperty('accountBalances');
    expect((await read<Account>(`/${first?.id}`)).body.data).toEqual(first);
    expect((await read(`/${first?.id}/balances`)).status).toBe(424);
  });

  it('by two people (ticino)', async () => {
    const begun = await begin('ticino');
    const { location } = await visit(begun, { persona: 'ada' });
    expect(location?.searchParams.has('consent')).toBe(false);
    expect((await consentOf(begun.id)).status).toBe('AWAITING_FURTHER_AUTHORIZATION');
    // The second person comes to the bank without us.
    await sandbox.control('sign', { bank: 'ticino', consentId: begun.institutionConsentId, signer: 'ben' });
    await reads((await polled(begun.id, 'AUTHORIZED')).consentToken);
  });

  it.each(['meridian', 'lindenhof'])(
    'that the user takes back at the bank is noticed at the next call (%s)',
    async (bank) => {
      const begun = await begin(bank);
      const token = tokenOf(await visit(begun)) ?? '';
      await sandbox.control('withdraw', { bank, consentId: begun.institutionConsentId });
      const refused = await aggregator.ask('GET /accounts', { as: shop, headers: { consent: token } });
      expect(refused.status).toBe(403);
      expect(await consentOf(begun.id)).toMatchObject({ status: 'REVOKED', isDeletedByInstitution: true });
    },
  );

  it('whose tokens die at a bank that keeps its status is refused until it is authorised again (thistle)', async () => {
    const begun = await begin('thistle');
    const token = tokenOf(await visit(begun)) ?? '';
    await sandbox.control('withdraw', { bank: 'thistle', consentId: begun.institutionConsentId });
    const refused = await aggregator.ask('GET /accounts', { as: shop, headers: { consent: token } });
    expect(refused.status).toBe(403);
    expect(await consentOf(begun.id)).toMatchObject({ status: 'AUTHORIZED' });
  });

  it.each(['meridian', 'lindenhof', 'fjordbank'])('ends at the bank when it is deleted (%s)', async (bank) => {
    const headers = { 'psu-id': 'ada', 'psu-ip-address': '192.0.2.7' };
    const begun = await begin(bank, {}, headers);
    if (begun.authorisationUrl) await visit(begun);
    const { status, body } = await aggregator.ask<Envelope<{ deleteStatus: string }>>(
      `DELETE /consents/${begun.id}?forceDelete=false`,
      { as: shop },
    );
    expect({ status, deleteStatus: body.data.deleteStatus }).toEqual({ status: 200, deleteStatus: 'SUCCESS' });
  });

  it('is swept without fault at every bank that is still waiting', async () => {
    await begin('fjordbank', {}, { 'psu-id': 'ada', 'psu-ip-address': '192.0.2.7' });
    await expect(aggregator.get(ConsentSweep).run()).resolves.toBeGreaterThanOrEqual(0);
  });
});
