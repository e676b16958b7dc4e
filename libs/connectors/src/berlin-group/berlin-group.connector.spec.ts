import type { Answer, Call, Connector, Grant } from '../connector.js';
import { operation } from '../registry.js';
import type { BerlinGroupSettings } from './berlin-group.types.js';
import {
  access,
  call,
  connectScripted,
  startScriptedBank,
  state,
  under,
  type ScriptedBank,
  type Told,
} from './scripted-bank.fixture.js';

let server: ScriptedBank;
beforeAll(async () => {
  server = await startScriptedBank('/banks/lindenhof');
});
afterAll(() => server.close());
beforeEach(() => {
  server.answers = {};
  server.asked.length = 0;
});

const bank = (settings: Partial<BerlinGroupSettings> = {}): Connector => connectScripted(server, settings);
const begin = (connector = bank(), psu?: Call['psu']) =>
  operation(connector, 'INITIATE_ACCOUNT_REQUEST')(call(psu), access);
const logIn = () =>
  operation(bank({ scaApproach: 'embedded' }), 'INITIATE_EMBEDDED_ACCOUNT_REQUEST')(call(), access, {
    id: 'ada',
    password: 'secret',
  });
const go = (pending: Grant, answer: Answer) => bank().proceed(call(), pending, answer);
const links = (...entries: [string, string][]) => Object.fromEntries(entries.map(([name, href]) => [name, { href }]));
const consent = (...entries: [string, string][]): Told => ({
  status: 201,
  body: { consentStatus: 'received', consentId: 'c-1', _links: links(...entries) },
});
const CREATE = 'POST /v1/consents';
const START = 'POST /v1/consents/c-1/authorisations';
const ONE = '/v1/consents/c-1/authorisations/a-1';
const valid = {
  'GET /v1/consents/c-1/status': { body: { consentStatus: 'valid' } },
  'GET /v1/consents/c-1': { body: { validUntil: '2026-12-24' } },
};

describe('asking for access', () => {
  it('names the approach, the way back and, where nobody knows the PSU’s address, nothing false', async () => {
    server.answers = { [CREATE]: consent(['scaRedirect', `${server.origin}/page`]) };
    expect(await begin(bank(), { id: 'ada', ipAddress: '192.0.2.7' })).toMatchObject({
      kind: 'redirect',
      url: `${server.origin}/page`,
    });
    expect(server.asked[0]?.headers).toMatchObject({
      'psu-id': 'ada',
      'psu-ip-address': '192.0.2.7',
      'tpp-redirect-preferred': 'true',
      'tpp-redirect-uri': `https://tpp.example/callback?state=${state}`,
      'tpp-nok-redirect-uri': `https://tpp.example/callback?state=${state}&error=access_denied`,
      'x-request-id': expect.stringMatching(/^a1b2c3d4-e5f6-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/),
    });
    await begin();
    expect(server.asked[1]?.headers).not.toHaveProperty('psu-ip-address');
    expect(server.asked[1]?.headers['x-request-id']).not.toBe(server.asked[0]?.headers['x-request-id']);
  });

  it.each(['startAuthorisation', 'startAuthorisationWithPsuIdentification'])(
    'starts what has to be started (%s)',
    async (name) => {
      server.answers = {
        [CREATE]: consent([name, '/v1/consents/c-1/authorisations']),
        [START]: {
          status: 201,
          body: { scaStatus: 'received', _links: links(['scaRedirect', `${server.origin}/page`]) },
        },
      };
      expect(await begin()).toMatchObject({ kind: 'redirect' });
      expect(server.asked.map(({ route }) => route)).toEqual([CREATE, START]);
    },
  );

  it.each<[string, Told]>([
    ['leads in a circle', consent(['startAuthorisation', '/v1/consents/c-1/authorisations'])],
    ['leads to another host', consent(['startAuthorisation', 'https://elsewhere.example/v1/x'])],
    ['says nothing', consent()],
    ['has no id', { status: 201, body: { consentStatus: 'received' } }],
    ['sends the browser to no page', consent(['scaRedirect', 'javascript:alert(1)'])],
  ])('is malformed where the bank %s', async (_what, told) => {
    server.answers = {
      [CREATE]: told,
      [START]: {
        body: { scaStatus: 'received', _links: links(['startAuthorisation', '/v1/consents/c-1/authorisations']) },
      },
    };
    await expect(begin()).rejects.toMatchObject({ kind: 'malformed' });
    expect(server.asked.length).toBeLessThan(12);
  });
});

const back = async (created: Told, callback: Record<string, string> = {}) => {
  server.answers = { ...server.answers, [CREATE]: created };
  const step = await begin();
  if (step.kind !== 'redirect') throw new Error('Expected a redirect');
  return go(step.pending, { callback: new URLSearchParams({ state, ...callback }) });
};

describe('coming back', () => {
  it('believes the bank alone, whatever the browser brings', async () => {
    server.answers = { ...valid };
    expect(await back(consent(['scaRedirect', `${server.origin}/page`]), { error: 'access_denied' })).toMatchObject({
      kind: 'authorised',
      grant: { institutionConsentId: 'c-1', expiresAt: new Date('2026-12-24T23:59:59Z') },
    });
  });

  it.each([
    ['received', 'decoupled'],
    ['partiallyAuthorised', 'further-authorisation'],
    ['rejected', 'rejected'],
    ['expired', 'rejected'],
  ])('finds a consent that is %s: %s', async (consentStatus, kind) => {
    server.answers = { 'GET /v1/consents/c-1/status': { body: { consentStatus } } };
    expect(await back(consent(['scaRedirect', `${server.origin}/page`]))).toMatchObject({ kind });
  });

  it('takes a refusal for one where the bank has not decided', async () => {
    server.answers = { 'GET /v1/consents/c-1/status': { body: { consentStatus: 'received' } } };
    expect(await back(consent(['scaRedirect', `${server.origin}/page`]), { error: 'access_denied' })).toEqual({
      kind: 'rejected',
      reason: 'access_denied',
    });
  });

  it('confirms with the code that came back where the bank wants that', async () => {
    server.answers = { ...valid, [`PUT ${ONE}`]: { body: { scaStatus: 'finalised' } } };
    const created = consent(['scaRedirect', `${server.origin}/page`], ['confirmation', ONE]);
    expect(await back(created, { confirmationCode: '2256ffgh' })).toMatchObject({ kind: 'authorised' });
    expect(server.asked.find(({ route }) => route === `PUT ${ONE}`)?.body).toBe('{"confirmationCode":"2256ffgh"}');
  });

  it('fetches the token of integrated OAuth, bound to the consent, and reads with it', async () => {
    const metadata = {
      issuer: server.origin,
      authorization_endpoint: `${server.origin}/authorize`,
      token_endpoint: `${server.origin}/token`,
    };
    const token = { access_token: 't-1', token_type: 'Bearer', expires_in: 900 };
    server.answers = {
      ...valid,
      'GET /oauth/.well-known/oauth-authorization-server': { body: metadata },
      'POST /token': { body: token },
    };
    server.answers[CREATE] = consent(['scaOAuth', `${server.origin}/oauth/.well-known/oauth-authorization-server`]);
    const step = await begin();
    if (step.kind !== 'redirect') throw new Error('Expected a redirect');
    const query = new URL(step.url).searchParams;
    expect(Object.fromEntries(query)).toMatchObject({
      client_id: 'PSDDE-1',
      scope: 'AIS:c-1',
      state,
      code_challenge_method: 'S256',
    });
    const done = await go(step.pending, { callback: new URLSearchParams({ state, code: 'code-1' }) });
    expect(done).toMatchObject({ kind: 'authorised', grant: { state: { tokens: { accessToken: 't-1' } } } });
    expect(server.asked.find(({ route }) => route === 'POST /token')?.body).toMatch(
      /code_verifier=.*client_id=PSDDE-1|client_id=PSDDE-1.*code_verifier=/,
    );
    expect(server.asked.at(-1)?.headers['authorization']).toBe('Bearer t-1');
    const denied = go(step.pending, { callback: new URLSearchParams({ state, error: 'access_denied' }) });
    expect(await denied).toMatchObject({ kind: 'rejected' });
  });
});

const embedded = () =>
  consent(
    ['startAuthorisationWithPsuAuthentication', '/v1/consents/c-1/authorisations'],
    ['scaRedirect', `${server.origin}/page`],
  );

describe('embedded', () => {
  it('chooses the only method, and asks for the code', async () => {
    server.answers = {
      [CREATE]: embedded(),
      [START]: {
        status: 201,
        body: {
          scaStatus: 'psuAuthenticated',
          scaMethods: [{ authenticationMethodId: 'm-1', authenticationType: 'SMTP_OTP', name: 'Mail' }],
          _links: links(['selectAuthenticationMethod', ONE]),
        },
      },
      [`PUT ${ONE}`]: {
        body: {
          scaStatus: 'scaMethodSelected',
          chosenScaMethod: { authenticationMethodId: 'm-1', name: 'Mail' },
          _links: links(['authoriseTransaction', ONE]),
        },
      },
    };
    expect(await logIn()).toMatchObject({ kind: 'enter-code', method: { id: 'm-1', description: 'Mail' } });
    expect(server.asked.map(({ body }) => body).slice(1)).toEqual([
      '{"psuData":{"password":"secret"}}',
      '{"authenticationMethodId":"m-1"}',
    ]);
  });

  it('takes an identification first and a second password after it', async () => {
    server.answers = {
      ...valid,
      [CREATE]: consent(['startAuthorisationWithPsuIdentification', '/v1/consents/c-1/authorisations']),
      [START]: { body: { scaStatus: 'psuIdentified', _links: links(['updatePsuAuthentication', ONE]) } },
      [`PUT ${ONE}`]: [
        { body: { scaStatus: 'started', _links: links(['updateAdditionalPsuAuthentication', ONE]) } },
        { body: { scaStatus: 'exempted' } },
      ],
    };
    expect(await logIn()).toMatchObject({ kind: 'authorised' });
    expect(server.asked[1]?.headers['psu-id']).toBe('ada');
  });

  it('says that a password must be encrypted, and sends none', async () => {
    server.answers = {
      [CREATE]: consent(['startAuthorisationWithEncryptedPsuAuthentication', '/v1/consents/c-1/authorisations']),
    };
    await expect(logIn()).rejects.toMatchObject({ kind: 'rejected' });
    expect(JSON.stringify(server.asked)).not.toContain('secret');
  });
});

const tppMessages = (code: string) => ({
  tppMessages: [
    { category: 'WARNING', code: 'X' },
    { category: 'ERROR', code, text: 'No.' },
  ],
});
const problem = (code: string) => ({ type: 'https://bank.example/x', code, title: 'Title', detail: 'No.' });

describe('what a refusal means', () => {
  it.each<[number, string, string]>([
    [400, 'CONSENT_UNKNOWN', 'consent-gone'],
    [403, 'CONSENT_UNKNOWN', 'consent-gone'],
    [401, 'CONSENT_EXPIRED', 'consent-gone'],
    [403, 'RESOURCE_UNKNOWN', 'not-found'],
    [404, 'RESOURCE_UNKNOWN', 'not-found'],
    [401, 'CERTIFICATE_INVALID', 'unauthorised'],
    [400, 'FORMAT_ERROR', 'rejected'],
    [429, 'ACCESS_EXCEEDED', 'rate-limited'],
    [503, 'SERVICE_UNAVAILABLE', 'unavailable'],
  ])('%i %s is %s, in both shapes', async (status, code, kind) => {
    for (const body of [tppMessages(code), problem(code)]) {
      server.answers = {
        ...valid,
        'GET /v1/accounts?withBalance=true': { status, body, headers: { 'retry-after': '60' } },
      };
      const read = operation(bank(), 'ACCOUNTS')(under());
      await expect(read).rejects.toMatchObject({
        kind,
        httpStatus: status,
        code,
        message: 'No.',
        retryAfterMs: 60_000,
      });
    }
  });

  it('is the end of the consent where the bank says so when asked', async () => {
    server.answers = {
      'GET /v1/accounts?withBalance=true': { status: 401, body: tppMessages('CONSENT_INVALID') },
      'GET /v1/consents/c-1/status': { body: { consentStatus: 'revokedByPsu' } },
    };
    await expect(operation(bank(), 'ACCOUNTS')(under())).rejects.toMatchObject({
      kind: 'consent-gone',
      code: 'CONSENT_INVALID',
    });
  });
});

describe('reading', () => {
  it('tells the bank of the PSU only while the PSU is there', async () => {
    server.answers = { 'GET /v1/accounts?withBalance=true': { body: { accounts: [] } } };
    await operation(bank(), 'ACCOUNTS')(under());
    await operation(bank(), 'ACCOUNTS')(under({}, { ipAddress: '192.0.2.7' }));
    expect(server.asked.map(({ headers }) => headers['psu-ip-address'])).toEqual([undefined, '192.0.2.7']);
    expect(server.asked.map(({ headers }) => headers['consent-id'])).toEqual(['c-1', 'c-1']);
  });

  it('shortens a start that nobody asked for, and says where it starts; never one that was asked for', async () => {
    const refused = { status: 400, body: { tppMessages: [{ category: 'ERROR', code: 'PERIOD_INVALID' }] } };
    const path = 'GET /v1/accounts/a-1/transactions?bookingStatus=both&dateFrom=';
    server.answers = {
      [`${path}2024-11-21`]: refused,
      [`${path}2026-08-24`]: { body: { transactions: { booked: [] } } },
    };
    const read = operation(bank(), 'ACCOUNT_TRANSACTIONS');
    expect(await read(under(), 'a-1', {})).toEqual({ items: [], startsAt: new Date('2026-08-24T00:00:00Z') });
    await expect(read(under(), 'a-1', { from: new Date('2024-11-21T00:00:00Z') })).rejects.toMatchObject({
      code: 'PERIOD_INVALID',
    });
  });
});
