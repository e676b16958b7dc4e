import * as client from 'openid-client';
import { startForTest, type TppFixture } from '../tpp.fixture.js';
import { BerlinTpp, globalAccess, type BerlinAnswer } from './berlin-tpp.fixture.js';

let fixture: TppFixture;
beforeAll(async () => {
  fixture = await startForTest();
});
afterAll(() => fixture.close());

const link = (answer: BerlinAnswer, name: string): string => answer.body._links[name]!.href;
const attended = { 'psu-ip-address': '192.0.2.7' };

describe('embedded', () => {
  let tpp: BerlinTpp;
  beforeAll(() => {
    tpp = new BerlinTpp(fixture, 'isarkasse');
  });
  const begin = async (psuId: string, password = `${psuId}-sandbox`): Promise<[consentId: string, BerlinAnswer]> => {
    const consent = await tpp.createConsent(globalAccess, { 'psu-id': psuId, 'tpp-redirect-uri': '' });
    const body = { psuData: { password } };
    const begun = await tpp.call('POST', link(consent, 'startAuthorisationWithPsuAuthentication'), body);
    return [consent.body.consentId, begun];
  };

  it('lets somebody choose among three methods and enter a code', async () => {
    const [consentId, begun] = await begin('ada');
    expect(begun.status).toBe(201);
    expect(begun.headers.get('aspsp-sca-approach')).toBe('EMBEDDED');
    expect(begun.body.scaStatus).toBe('psuAuthenticated');
    const types = begun.body.scaMethods.map((method) => method.authenticationType);
    expect(types).toEqual(['SMS_OTP', 'CHIP_OTP', 'PHOTO_OTP']);
    const [, , photo] = begun.body.scaMethods;
    const method = { authenticationMethodId: photo!.authenticationMethodId };
    const chosen = await tpp.call('PUT', link(begun, 'selectAuthenticationMethod'), method);
    expect(chosen.body).toMatchObject({ scaStatus: 'scaMethodSelected', chosenScaMethod: method });
    const image = Buffer.from(chosen.body.challengeData.image ?? '', 'base64');
    expect(image.subarray(1, 4).toString()).toBe('PNG');
    const done = await tpp.call('PUT', link(chosen, 'authoriseTransaction'), { scaAuthenticationData: '123456' });
    expect(done.body.scaStatus).toBe('finalised');
    expect(await tpp.status(consentId)).toBe('valid');
    expect((await tpp.read('/v1/accounts', consentId, attended)).body.accounts).toHaveLength(2);
  });

  it('gives a start code to a card reader', async () => {
    const [, begun] = await begin('ada');
    const method = { authenticationMethodId: begun.body.scaMethods[1]!.authenticationMethodId };
    const chosen = await tpp.call('PUT', link(begun, 'selectAuthenticationMethod'), method);
    expect(chosen.body.challengeData.data![0]).toMatch(/^\d{8}$/);
  });

  it('asks for the code at once when there is one method', async () => {
    const [consentId, begun] = await begin('chloe');
    expect(begun.body.scaStatus).toBe('scaMethodSelected');
    expect(begun.body.challengeData.otpMaxLength).toBe(6);
    await tpp.call('PUT', link(begun, 'authoriseTransaction'), { scaAuthenticationData: '345678' });
    expect(await tpp.status(consentId)).toBe('valid');
  });

  it('exempts who has no method', async () => {
    const [consentId, begun] = await begin('ben');
    expect(begun.body.scaStatus).toBe('exempted');
    expect(await tpp.status(consentId)).toBe('valid');
  });

  it('takes identification and password in two steps', async () => {
    const consent = await tpp.createConsent(globalAccess, { 'tpp-redirect-uri': '' });
    const start = link(consent, 'startAuthorisationWithPsuIdentification');
    expect((await tpp.call('POST', start)).body.tppMessages[0]).toMatchObject({ code: 'FORMAT_ERROR', path: 'PSU-ID' });
    const begun = await tpp.call('POST', start, undefined, { 'psu-id': 'ben' });
    expect(begun.body.scaStatus).toBe('psuIdentified');
    const body = { psuData: { password: 'ben-sandbox' } };
    const done = await tpp.call('PUT', link(begun, 'updatePsuAuthentication'), body);
    expect(done.body.scaStatus).toBe('exempted');
  });

  it('refuses wrong passwords, methods and codes, and gives up after three', async () => {
    const [, wrong] = await begin('ada', 'guess');
    expect([wrong.status, wrong.body.tppMessages[0]!.code]).toEqual([401, 'PSU_CREDENTIALS_INVALID']);
    const [consentId, begun] = await begin('ada');
    const select = link(begun, 'selectAuthenticationMethod');
    const early = await tpp.call('PUT', select, { scaAuthenticationData: '123456' });
    expect([early.status, early.body.tppMessages[0]!.code]).toEqual([409, 'STATUS_INVALID']);
    const unknown = await tpp.call('PUT', select, { authenticationMethodId: 'owl' });
    expect(unknown.body.tppMessages[0]!.code).toBe('SCA_METHOD_UNKNOWN');
    const method = { authenticationMethodId: begun.body.scaMethods[0]!.authenticationMethodId };
    const chosen = await tpp.call('PUT', select, method);
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await tpp.call('PUT', link(chosen, 'authoriseTransaction'), { scaAuthenticationData: '000000' });
      expect([answer.status, answer.body.tppMessages[0]!.code]).toEqual([400, 'SCA_INVALID']);
    }
    expect((await tpp.call('GET', link(chosen, 'scaStatus'))).body.scaStatus).toBe('failed');
    expect(await tpp.status(consentId)).toBe('rejected');
  });

  it('offers no choice of accounts, for it has no pages', async () => {
    const answer = await tpp.createConsent({ accounts: [] }, { 'psu-id': 'ada' });
    expect(answer.body.tppMessages[0]!.code).toBe('SERVICE_INVALID');
  });

  it('cannot sign for accounts of somebody else', async () => {
    const [foreign] = fixture.sandbox.ledger.accountsOf('isarkasse', 'chloe');
    const consent = await tpp.createConsent({ balances: [{ iban: foreign!.iban }] }, { 'psu-id': 'ben' });
    const body = { psuData: { password: 'ben-sandbox' } };
    const begun = await tpp.call('POST', link(consent, 'startAuthorisationWithPsuAuthentication'), body);
    expect(begun.body.scaStatus).toBe('failed');
    expect(await tpp.status(consent.body.consentId)).toBe('rejected');
  });
});

describe('decoupled', () => {
  let tpp: BerlinTpp;
  beforeAll(() => {
    tpp = new BerlinTpp(fixture, 'fjordbank');
  });

  it('waits until the PSU confirms on another device', async () => {
    const consent = await tpp.createConsent(globalAccess, { 'psu-id': 'chloe', 'tpp-redirect-uri': '' });
    expect(consent.headers.get('aspsp-sca-approach')).toBe('DECOUPLED');
    expect(consent.body.psuMessage).toContain('Fjordbank app');
    expect(consent.body._links).not.toHaveProperty('scaRedirect');
    expect((await tpp.call('GET', link(consent, 'scaStatus'))).body.scaStatus).toBe('started');
    const { consentId } = consent.body;
    expect(await (await fetch(`${fixture.sandbox.url}/banks/fjordbank/device`)).text()).toContain(
      'asks chloe for access',
    );
    const confirmed = await tpp.control('decoupled', { bank: 'fjordbank', consentId, decision: 'approve' });
    expect(confirmed.status).toBe(200);
    expect((await tpp.call('GET', link(consent, 'scaStatus'))).body.scaStatus).toBe('finalised');
    expect(await tpp.status(consentId)).toBe('valid');
    const accounts = (await tpp.read('/v1/accounts?withBalance=true', consentId, attended)).body.accounts;
    expect(accounts[0]!.iban).toMatch(/^NO\d{13}$/);
    expect(accounts[0]).not.toHaveProperty('balances');
    expect(accounts[0]!._links).not.toHaveProperty('balances');
  });

  it('can be turned down there, and by nobody else', async () => {
    const { body } = await tpp.createConsent(globalAccess, { 'psu-id': 'ada' });
    const wish = { bank: 'fjordbank', consentId: body.consentId };
    expect((await tpp.control('decoupled', { ...wish, decision: 'approve', persona: 'ben' })).status).toBe(200);
    expect(await tpp.status(body.consentId)).toBe('rejected');
    expect((await tpp.control('decoupled', { ...wish, decision: 'deny' })).status).toBe(400);
    const other = await tpp.createConsent(globalAccess, { 'psu-id': 'ada' });
    await tpp.control('decoupled', { ...wish, consentId: other.body.consentId, decision: 'deny' });
    expect(await tpp.status(other.body.consentId)).toBe('rejected');
  });

  it('needs to know whose device that is, and says so in its own error shape', async () => {
    const nobody = await tpp.createConsent(globalAccess, { 'psu-id': 'zoe' });
    expect([nobody.status, nobody.body.code]).toEqual([401, 'PSU_CREDENTIALS_INVALID']);
    expect(nobody.headers.get('content-type')).toContain('application/problem+json');
    const consent = await tpp.createConsent();
    const start = link(consent, 'startAuthorisationWithPsuIdentification');
    expect((await tpp.call('POST', start)).body.code).toBe('FORMAT_ERROR');
    const begun = await tpp.call('POST', start, undefined, { 'psu-id': 'ada' });
    expect(begun.body).toMatchObject({ scaStatus: 'started', psuMessage: expect.stringContaining('app') as string });
  });
});

describe('two people who sign', () => {
  it('make a consent valid only together', async () => {
    const tpp = new BerlinTpp(fixture, 'ticino');
    const consent = await tpp.createConsent();
    const { consentId } = consent.body;
    const first = await tpp.call('POST', link(consent, 'startAuthorisation'));
    await tpp.visit(link(first, 'scaRedirect'), { persona: 'ada', accounts: ['Everyday'] });
    expect((await tpp.call('GET', link(first, 'scaStatus'))).body.scaStatus).toBe('finalised');
    expect(await tpp.status(consentId)).toBe('partiallyAuthorised');
    expect((await tpp.read('/v1/accounts', consentId)).body.tppMessages[0]!.code).toBe('CONSENT_INVALID');
    const again = await tpp.call('GET', `/v1/consents/${consentId}`);
    const second = await tpp.call('POST', link(again, 'startAuthorisation'));
    expect(await (await fetch(link(second, 'scaRedirect'))).text()).toContain('Ada Thornbury has approved');
    const third = await tpp.call('POST', link(again, 'startAuthorisation'));
    await tpp.visit(link(third, 'scaRedirect'));
    expect(await tpp.status(consentId)).toBe('valid');
    const { body } = await tpp.read('/v1/accounts', consentId, attended);
    expect(body.accounts.map((account) => account.iban)).toEqual([
      fixture.sandbox.ledger.accountsOf('ticino', 'ada')[0]!.iban,
    ]);
    expect(body.accounts[0]!.iban).toMatch(/^IT\d{2}X\d{22}$/);
  });

  it('are two people', async () => {
    const tpp = new BerlinTpp(fixture, 'ticino');
    const consent = await tpp.createConsent();
    for (let turn = 0; turn < 2; turn += 1) {
      const begun = await tpp.call('POST', link(consent, 'startAuthorisation'));
      await tpp.visit(link(begun, 'scaRedirect'), { persona: 'ada' });
    }
    expect(await tpp.status(consent.body.consentId)).toBe('rejected');
  });
});

describe('a pre-step', () => {
  let tpp: BerlinTpp;
  let config: client.Configuration;
  beforeAll(() => {
    tpp = new BerlinTpp(fixture, 'marais');
  });

  const token = async (persona: string, scope = 'AIS'): Promise<client.TokenEndpointResponse> => {
    const refused = await tpp.createConsent();
    expect([refused.status, refused.body.code]).toEqual([401, 'TOKEN_UNKNOWN']);
    config = await client.discovery(
      new URL(link(refused, 'scaOAuth')),
      fixture.tpp.clientId,
      { use_mtls_endpoint_aliases: true },
      client.TlsClientAuth(),
      { execute: [client.allowInsecureRequests], [client.customFetch]: fixture.fetch },
    );
    const verifier = client.randomPKCECodeVerifier();
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: 'http://localhost:3000/callback',
      scope,
      state: 's1',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const back = new URL(await tpp.visit(url.href, { persona }));
    return client.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: 's1' });
  };

  it('gives a token, with which a consent is asked for and read', async () => {
    const given = await token('ben');
    expect(given.scope).toBe('AIS');
    tpp.token = given.access_token;
    const consent = await tpp.createConsent();
    expect(consent.status).toBe(201);
    await tpp.visit(link(consent, 'scaRedirect'), { persona: 'ben' });
    const { consentId } = consent.body;
    const foreign = await tpp.createConsent();
    await tpp.visit(link(foreign, 'scaRedirect'), { persona: 'chloe' });
    expect(await tpp.status(foreign.body.consentId)).toBe('rejected');
    const { body } = await tpp.read('/v1/accounts?withBalance=true', consentId, attended);
    expect(body.accounts[0]!.iban).toMatch(/^FR\d{25}$/);
    expect(body.accounts[0]!.balances).toMatchObject([{ balanceType: 'expected' }]);

    tpp.token = undefined;
    const other = await token('chloe');
    tpp.token = other.access_token;
    expect((await tpp.read('/v1/accounts', consentId, attended)).body.code).toBe('CONSENT_UNKNOWN');
    tpp.token = undefined;
  });

  it('gives a token for payments, which opens no accounts', async () => {
    const given = await token('ada', 'PIS');
    expect(given.scope).toBe('PIS');
    tpp.token = given.access_token;
    expect((await tpp.createConsent()).body.code).toBe('TOKEN_INVALID');
    tpp.token = undefined;
  });

  it('renews tokens once each, until ninety days are over', async () => {
    const given = await token('ada');
    await tpp.control('clock', { advance: 'P80D' });
    const renewed = await client.refreshTokenGrant(config, given.refresh_token ?? '');
    expect(renewed.refresh_token).not.toBe(given.refresh_token);
    tpp.token = given.access_token;
    expect((await tpp.createConsent()).body.code).toBe('TOKEN_INVALID');
    await tpp.control('clock', { advance: 'P11D' });
    await expect(client.refreshTokenGrant(config, renewed.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    await tpp.control('clock', { advance: '-P91D' });
    tpp.token = undefined;
  });

  it('ends with an error when the PSU refuses', async () => {
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: 'http://localhost:3000/callback',
      scope: 'AIS',
      state: 's2',
      code_challenge: await client.calculatePKCECodeChallenge(client.randomPKCECodeVerifier()),
      code_challenge_method: 'S256',
    });
    expect(await tpp.visit(url.href, { decision: 'deny' })).toContain('error=access_denied');
  });
});
