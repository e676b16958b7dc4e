import type { Account, Consent, Envelope } from '#libs/contract';
import { ConsentSweep } from '../../apps/aggregator/src/consents/consent-sweep.service.js';
import { callback } from '../support/authorise.js';
import { adasDevice, BankFlows, tokenOf } from '../support/bank-flows.js';

/** Every way of authorising, through the interface, the connectors and the pages of the sandbox's banks. */
describe('authorisation at the sandbox banks', () => {
  let flows: BankFlows;
  beforeAll(async () => {
    flows = await BankFlows.start();
  });
  afterAll(() => flows.close());

  it.each(['meridian', 'tamar', 'thistle', 'lindenhof', 'marais'])('by redirect (%s)', async (bank) => {
    const begun = await flows.begin(bank);
    await flows.reads(tokenOf(await flows.visitTwice(begun)));
    const { status, timeToExpire } = await flows.consentOf(begun.id);
    expect(status).toBe('AUTHORIZED');
    // Tamar's consents have no end of their own.
    expect(timeToExpire).toEqual(bank === 'tamar' ? undefined : expect.stringMatching(/^P/));
  });

  it.each(['meridian', 'tamar', 'lindenhof'])('refused by the user (%s)', async (bank) => {
    const begun = await flows.begin(bank);
    const { location } = await flows.visit(begun, { decision: 'deny' });
    expect(location?.searchParams.get('error-source')).toBe('user');
    expect((await flows.consentOf(begun.id)).status).toBe('REJECTED');
  });

  it.each(['meridian', 'tamar', 'lindenhof'])('with the client’s own redirect (%s)', async (bank) => {
    const begun = await flows.begin(bank, { callback: undefined, redirect: { url: callback } });
    const { location } = await flows.visit(begun);
    const { code = '', state = '' } = Object.fromEntries(location?.searchParams ?? []);
    const { body } = await flows.aggregator.ask<Consent>('POST /consent-auth-code', {
      as: flows.shop,
      body: { authCode: code, authState: state },
    });
    expect(body).toMatchObject({ id: begun.id, status: 'AUTHORIZED' });
    await flows.reads(body.consentToken);
  });

  it.each(['meridian', 'lindenhof'])('again, under the same id and token (%s)', async (bank) => {
    const first = await flows.begin(bank);
    const token = tokenOf(await flows.visit(first));
    const again = await flows.ask('PATCH /account-auth-requests', { expected: 201, headers: { consent: token } });
    expect(again).toMatchObject({ id: first.id, status: 'AWAITING_RE_AUTHORIZATION' });
    await flows.visit(again, { decision: 'deny' });
    expect((await flows.consentOf(first.id)).status).toBe('AUTHORIZED');
    const third = await flows.ask('PATCH /account-auth-requests', { expected: 201, headers: { consent: token } });
    expect(tokenOf(await flows.visit(third))).toBe(token);
    await flows.reads(token);
  });

  it('in two steps (marais)', async () => {
    const subject = { institutionId: 'marais-sandbox', applicationUserId: flows.person(), callback };
    const first = await flows.ask('POST /pre-auth-requests', { expected: 201, body: { ...subject, scope: 'AIS' } });
    expect(first.status).toBe('AWAITING_PRE_AUTHORIZATION');
    const token = tokenOf(await flows.visit(first));
    expect((await flows.consentOf(first.id)).status).toBe('PRE_AUTHORIZED');
    const headers = { consent: token };
    const second = await flows.ask('PUT /account-auth-requests', { expected: 200, headers, body: subject });
    expect(second).toMatchObject({ id: first.id, status: 'AWAITING_AUTHORIZATION' });
    expect(tokenOf(await flows.visit(second))).toBe(token);
    await flows.reads(token);
  });

  it('for one payment, of which the bank hears later (marais)', async () => {
    const identification = { type: 'IBAN', identification: 'FR7630006000011234567890189' };
    const first = await flows.ask('POST /payment-pre-auth-requests', {
      expected: 201,
      body: {
        institutionId: 'marais-sandbox',
        applicationUserId: flows.person(),
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
    const token = tokenOf(await flows.visit(first));
    expect(await flows.consentOf(first.id)).toMatchObject({ status: 'PRE_AUTHORIZED', consentToken: token });
  });

  describe('with credentials (isarkasse)', () => {
    const embedded = async (login: string, changes: object = {}) => {
      const subject = { institutionId: 'isarkasse-sandbox', applicationUserId: flows.person() };
      const userCredentials = { id: login, password: `${login}-sandbox` };
      const body = { ...subject, userCredentials, ...changes };
      const route = 'POST /embedded-account-auth-requests';
      return { subject, begun: await flows.ask(route, { expected: 201, body }) };
    };
    const answer = (id: string, body: object, expected = 201) =>
      flows.ask(`PUT /embedded-account-auth-requests/${id}`, { expected, body });

    it('and no SCA method', async () => {
      const { begun } = await embedded('ben');
      expect(begun.status).toBe('AUTHORIZED');
      await flows.reads((await flows.consentOf(begun.id)).consentToken);
    });

    it('and one SCA method', async () => {
      const { begun, subject } = await embedded('chloe');
      expect(begun).toMatchObject({ status: 'AWAITING_SCA_CODE', selectedScaMethod: { id: expect.any(String) } });
      const done = await answer(begun.id, { ...subject, scaCode: '345678' });
      expect(done.status).toBe('AUTHORIZED');
      await flows.reads((await flows.consentOf(begun.id)).consentToken);
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
      const wrong = { userCredentials: { id: 'ada', password: 'wrong' }, applicationUserId: flows.person() };
      const body = { institutionId: 'isarkasse-sandbox', ...wrong };
      const refused = await flows.aggregator.ask('POST /embedded-account-auth-requests', { as: flows.shop, body });
      expect(refused).toMatchObject({ status: 424, body: { error: { source: 'INSTITUTION' } } });
      const { begun, subject } = await embedded('chloe');
      for (const status of ['AWAITING_SCA_CODE', 'AWAITING_SCA_CODE', 'FAILED']) {
        await answer(begun.id, { ...subject, scaCode: '000000' }, 424);
        expect((await flows.consentOf(begun.id)).status).toBe(status);
      }
    });
  });

  it.each(['approve', 'deny'] as const)('on the user’s own device (fjordbank, %s)', async (decision) => {
    const headers = adasDevice;
    const begun = await flows.begin('fjordbank', {}, headers);
    expect(begun.status).toBe('AWAITING_DECOUPLED_AUTHORIZATION');
    expect(begun).not.toHaveProperty('authorisationUrl');
    expect((await flows.consentOf(begun.id)).status).toBe('AWAITING_DECOUPLED_AUTHORIZATION');
    await flows.sandbox.control('decoupled', { bank: 'fjordbank', consentId: begun.institutionConsentId, decision });
    const consent = await flows.polled(begun.id, decision === 'approve' ? 'AUTHORIZED' : 'REJECTED');
    if (decision === 'approve') await flows.reads(consent.consentToken, headers);
  });

  it.each(['approve', 'deny'] as const)('in two steps on the user’s own device (fjordbank, %s)', async (decision) => {
    const subject = { institutionId: 'fjordbank-sandbox', applicationUserId: flows.person() };
    const route = 'POST /pre-auth-requests';
    const first = await flows.ask(route, { expected: 201, body: { ...subject, scope: 'AIS' }, headers: adasDevice });
    expect(first.status).toBe('AWAITING_DECOUPLED_PRE_AUTHORIZATION');
    expect(first).not.toHaveProperty('authorisationUrl');
    expect((await flows.consentOf(first.id)).status).toBe('AWAITING_DECOUPLED_PRE_AUTHORIZATION');
    await flows.sandbox.control('decoupled', { bank: 'fjordbank', persona: 'ada', decision });
    const known = await flows.polled(first.id, decision === 'approve' ? 'PRE_AUTHORIZED' : 'REJECTED');
    if (decision === 'deny') return;
    const headers = { ...adasDevice, consent: known.consentToken ?? '' };
    const second = await flows.ask('PUT /account-auth-requests', { expected: 200, headers, body: subject });
    expect(second).toMatchObject({ id: first.id, status: 'AWAITING_DECOUPLED_AUTHORIZATION' });
    await flows.sandbox.control('decoupled', { bank: 'fjordbank', consentId: second.institutionConsentId, decision });
    const consent = await flows.polled(first.id, 'AUTHORIZED');
    expect(consent.consentToken).toBe(known.consentToken);
    await flows.reads(consent.consentToken, adasDevice);
  });

  it('reads accounts where the bank tells no balances, and says so of balances (fjordbank)', async () => {
    const headers = adasDevice;
    const begun = await flows.begin('fjordbank', {}, headers);
    const wish = { bank: 'fjordbank', consentId: begun.institutionConsentId, decision: 'approve' };
    await flows.sandbox.control('decoupled', wish);
    const consent = (await flows.polled(begun.id, 'AUTHORIZED')).consentToken ?? '';
    const read = <T>(path: string) =>
      flows.aggregator.ask<Envelope<T>>(`GET /accounts${path}`, { as: flows.shop, headers: { ...headers, consent } });
    const [first] = (await read<Account[]>('')).body.data;
    expect(first).not.toHaveProperty('accountBalances');
    expect((await read<Account>(`/${first?.id}`)).body.data).toEqual(first);
    expect((await read(`/${first?.id}/balances`)).status).toBe(424);
  });

  it('by two people (ticino)', async () => {
    const begun = await flows.begin('ticino');
    const { location } = await flows.visit(begun, { persona: 'ada' });
    expect(location?.searchParams.has('consent')).toBe(false);
    expect((await flows.consentOf(begun.id)).status).toBe('AWAITING_FURTHER_AUTHORIZATION');
    // The second person comes to the bank without us.
    await flows.sandbox.control('sign', { bank: 'ticino', consentId: begun.institutionConsentId, signer: 'ben' });
    await flows.reads((await flows.polled(begun.id, 'AUTHORIZED')).consentToken);
  });

  it.each(['meridian', 'lindenhof'])(
    'that the user takes back at the bank is noticed at the next call (%s)',
    async (bank) => {
      const begun = await flows.begin(bank);
      const token = tokenOf(await flows.visit(begun));
      await flows.sandbox.control('withdraw', { bank, consentId: begun.institutionConsentId });
      const refused = await flows.aggregator.ask('GET /accounts', { as: flows.shop, headers: { consent: token } });
      expect(refused.status).toBe(403);
      expect(await flows.consentOf(begun.id)).toMatchObject({ status: 'REVOKED', isDeletedByInstitution: true });
    },
  );

  it.each(['meridian', 'lindenhof'])('that the bank itself ends is no longer valid (%s)', async (bank) => {
    const begun = await flows.begin(bank);
    const consent = tokenOf(await flows.visit(begun));
    await flows.sandbox.control('withdraw', { bank, consentId: begun.institutionConsentId, by: 'bank' });
    const refused = await flows.aggregator.ask('GET /accounts', { as: flows.shop, headers: { consent } });
    expect(refused.status).toBe(403);
    expect((await flows.consentOf(begun.id)).status).toBe('INVALID');
  });

  it.each([
    ['500', 'FAILED'],
    ['bad-json', 'UNKNOWN'],
  ])('whose tokens the bank answers with %s is %s (meridian)', async (fault, status) => {
    const begun = await flows.begin('meridian');
    await flows.sandbox.fault({ bank: 'meridian', route: 'POST /token', fault, times: 1 });
    const { location } = await flows.visit(begun);
    expect(location?.searchParams.get('error-source')).toBe('institution');
    expect((await flows.consentOf(begun.id)).status).toBe(status);
  });

  it('whose tokens die at a bank that keeps its status is refused until it is authorised again (thistle)', async () => {
    const begun = await flows.begin('thistle');
    const token = tokenOf(await flows.visit(begun));
    await flows.sandbox.control('withdraw', { bank: 'thistle', consentId: begun.institutionConsentId });
    const refused = await flows.aggregator.ask('GET /accounts', { as: flows.shop, headers: { consent: token } });
    expect(refused.status).toBe(403);
    expect(await flows.consentOf(begun.id)).toMatchObject({ status: 'AUTHORIZED' });
  });

  it.each(['meridian', 'lindenhof', 'fjordbank'])('ends at the bank when it is deleted (%s)', async (bank) => {
    const headers = adasDevice;
    const begun = await flows.begin(bank, {}, headers);
    if (begun.authorisationUrl) await flows.visit(begun);
    const { status, body } = await flows.aggregator.ask<Envelope<{ deleteStatus: string }>>(
      `DELETE /consents/${begun.id}?forceDelete=false`,
      { as: flows.shop },
    );
    expect({ status, deleteStatus: body.data.deleteStatus }).toEqual({ status: 200, deleteStatus: 'SUCCESS' });
  });

  it('is swept without fault at every bank that is still waiting', async () => {
    await flows.begin('fjordbank', {}, adasDevice);
    await expect(flows.aggregator.get(ConsentSweep).run()).resolves.toBeGreaterThanOrEqual(0);
  });
});
