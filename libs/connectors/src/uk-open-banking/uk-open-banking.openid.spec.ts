import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { now } from '#libs/server';
import { BankHttp } from '../bank-http.js';
import type { Call, Institution, Tools } from '../connector.js';
import { ukSandboxInstitutions } from '../institutions.js';
import { OpenId, type Expected } from './uk-open-banking.openid.js';

/** An issuer that says what each test wants, so that every single check can be seen to fail. */
let issuer = '';
let key: CryptoKey;
let stranger: CryptoKey;
let publicKey: JWK;
let institution: Institution<'uk-open-banking'>;
let tools: Tools;
let answer: Record<string, unknown> = {};
let answered: { status: number; body: string }[] = [];
let asked: string[] = [];
/** Seconds by which the issuer's clock is ahead of ours. */
let ahead = 0;
const tracingId = 'a'.repeat(32);
const call: Call = { psu: {}, tracingId, signal: new AbortController().signal };
const half = (text: string): string => createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');

const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    id_token_signing_alg_values_supported: ['PS256'],
    authorization_signing_alg_values_supported: ['PS256'],
  };
  const special = request.url?.endsWith('/token') ? answered.shift() : undefined;
  response.writeHead(special?.status ?? 200, { 'content-type': 'application/json' });
  if (special) response.end(special.body);
  else if (request.url?.endsWith('/token')) response.end(JSON.stringify(answer));
  else if (request.url?.endsWith('/jwks')) response.end(JSON.stringify({ keys: [publicKey] }));
  else response.end(JSON.stringify(metadata));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  institution = ukSandboxInstitutions(origin)[0]!;
  issuer = institution.baseUrl;
  const pair = await generateKeyPair('PS256', { extractable: true });
  ({ privateKey: stranger } = await generateKeyPair('PS256'));
  key = pair.privateKey;
  publicKey = { ...(await exportJWK(pair.publicKey)), kid: 'bank-1', alg: 'PS256', use: 'sig' };
  const signingKey = await exportJWK(pair.privateKey);
  const credentials = { organisationId: 'org', softwareStatementId: 'ssa', redirectUri: 'http://localhost/callback' };
  tools = {
    http: new BankHttp({ report: () => undefined }),
    now,
    credentials: { ...credentials, clientId: 'tpp', signingKey, kid: 'tpp-1' },
  };
});
afterAll(async () => {
  await tools.http.close();
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
});
beforeEach(() => {
  ahead = 0;
  asked = [];
  answered = [];
});

const expected: Expected = {
  consentId: 'aac-1',
  scope: 'accounts',
  state: 'b'.repeat(32),
  nonce: 'nonce-1',
  codeVerifier: 'v'.repeat(43),
  redirectUri: 'http://localhost/callback',
};
const fair = {
  sub: 'psu-1',
  nonce: expected.nonce,
  acr: 'urn:openbanking:psd2:sca',
  openbanking_intent_id: expected.consentId,
  s_hash: half(expected.state),
  c_hash: half('code-1'),
};

async function idToken(changes: Record<string, unknown> = {}, signer = key): Promise<string> {
  const { iss = issuer, aud = 'tpp', life = 300, ...claims } = { ...fair, ...changes } as Record<string, unknown>;
  const at = Math.floor(tools.now().getTime() / 1000) + ahead;
  const iat = at + Math.min(0, Number(life)) - 1;
  return new SignJWT({ ...claims, iss, aud, iat, nbf: iat, exp: at + Number(life) } as Record<string, unknown>)
    .setProtectedHeader({ alg: 'PS256', kid: 'bank-1' })
    .sign(signer);
}

interface Play {
  front?: Record<string, unknown>;
  back?: Record<string, unknown>;
  callback?: Record<string, string>;
  frontKey?: CryptoKey;
  backKey?: CryptoKey;
  /** What else is known of the bank. */
  bank?: Partial<Institution<'uk-open-banking'>>;
}

async function exchange({ front = {}, back = {}, callback = {}, frontKey = key, backKey = key, bank }: Play = {}) {
  const tokens = { access_token: 'access-1', token_type: 'bearer', expires_in: 600, refresh_token: 'refresh-1' };
  answer = { ...tokens, id_token: await idToken({ at_hash: half('access-1'), ...back }, backKey) };
  const params = { code: 'code-1', id_token: await idToken(front, frontKey), state: expected.state, ...callback };
  return new OpenId({ ...institution, ...bank }, tools).exchange(call, expected, new URLSearchParams(params));
}

const refused = expect.objectContaining({ name: 'InstitutionError', kind: 'malformed' });
describe('a bank whose clock is not ours', () => {
  it.each([-40, 0, 40])('by %i seconds is believed as it is', async (seconds) => {
    ahead = seconds;
    expect(await exchange({ front: { life: 1 } })).toMatchObject({ accessToken: 'access-1' });
  });

  it.each([-1_200, 1_200])('by %i seconds is believed only where its data say so', async (seconds) => {
    ahead = seconds;
    await expect(exchange()).rejects.toEqual(refused);
    expect(await exchange({ bank: { clockSkewSeconds: seconds } })).toMatchObject({ accessToken: 'access-1' });
  });

  it.each([0, -1_200])('is asked in words that look made in its past (%i seconds)', async (clockSkewSeconds) => {
    const url = await new OpenId({ ...institution, clockSkewSeconds }, tools).authorisationUrl(call, expected);
    const { nbf = 0, iat = 0 } = decodeJwt(new URL(url).searchParams.get('request') ?? '');
    const itsTime = tools.now().getTime() / 1000 + clockSkewSeconds;
    for (const each of [nbf, iat]) {
      expect(each).toBeLessThan(itsTime - 3);
      expect(each).toBeGreaterThan(itsTime - 30);
    }
  });
});

const tokenCalls = (): number => asked.filter((each) => each.endsWith('/token')).length;

describe('the answer of an authorisation', () => {
  it('gives tokens when everything fits', async () => {
    const end = 1_900_000_000;
    const tokens = await exchange({ back: { 'http://openbanking.org.uk/refresh_token_expires_at': end } });
    expect(tokens).toEqual({
      accessToken: 'access-1',
      accessTokenExpiresAt: expect.any(Number),
      refreshToken: 'refresh-1',
      refreshTokenExpiresAt: end * 1000,
      subject: 'psu-1',
    });
  });

  it.each<[string, Play]>([
    ['state', { callback: { state: 'c'.repeat(32) } }],
    ['code (c_hash)', { callback: { code: 'code-2' } }],
    ['c_hash', { front: { c_hash: half('code-2') } }],
    ['missing c_hash', { front: { c_hash: undefined } }],
    ['s_hash', { front: { s_hash: half('other') } }],
    ['missing s_hash', { front: { s_hash: undefined } }],
    ['nonce', { front: { nonce: 'nonce-2' } }],
    ['issuer', { front: { iss: 'https://evil.example' } }],
    ['audience', { front: { aud: 'somebody' } }],
    ['expiry', { front: { life: -120 } }],
    ['intent', { front: { openbanking_intent_id: 'aac-2' } }],
    ['missing intent', { front: { openbanking_intent_id: undefined } }],
  ])('is refused for its %s, before the code is used', async (_what, play) => {
    await expect(exchange(play)).rejects.toEqual(refused);
    expect(tokenCalls()).toBe(0);
  });

  it('is refused for a signature that is not the bank’s, before the code is used', async () => {
    await expect(exchange({ frontKey: stranger })).rejects.toEqual(refused);
    expect(tokenCalls()).toBe(0);
  });

  it.each<[string, Play]>([
    ['nonce', { back: { nonce: 'nonce-2' } }],
    ['issuer', { back: { iss: 'https://evil.example' } }],
    ['audience', { back: { aud: 'somebody' } }],
    ['expiry', { back: { life: -120 } }],
    ['intent', { back: { openbanking_intent_id: 'aac-2' } }],
    ['subject', { back: { sub: 'psu-2' } }],
    ['acr', { back: { acr: 'urn:openbanking:psd2:none' } }],
    ['missing acr', { back: { acr: undefined } }],
    ['at_hash', { back: { at_hash: half('access-2') } }],
  ])('gives no tokens when the id_token that comes with them has another %s', async (_what, play) => {
    await expect(exchange(play)).rejects.toEqual(refused);
    expect(tokenCalls()).toBe(1);
  });

  it('gives no tokens when that id_token is signed by a stranger', async () => {
    await expect(exchange({ backKey: stranger })).rejects.toEqual(refused);
  });
});

describe('the request', () => {
  it('is signed, lives half an hour, and names the consent as essential', async () => {
    const url = new URL(await new OpenId(institution, tools).authorisationUrl(call, expected));
    const claims = decodeJwt(url.searchParams.get('request') ?? '');
    const intent = { value: 'aac-1', essential: true };
    expect(claims).toMatchObject({
      iss: 'tpp',
      client_id: 'tpp',
      aud: issuer,
      response_type: 'code id_token',
      scope: 'openid accounts',
      state: expected.state,
      nonce: expected.nonce,
      redirect_uri: expected.redirectUri,
      code_challenge_method: 'S256',
      claims: {
        id_token: {
          openbanking_intent_id: intent,
          acr: { essential: true, values: ['urn:openbanking:psd2:sca', 'urn:openbanking:psd2:ca'] },
        },
        userinfo: { openbanking_intent_id: intent },
      },
    });
    expect(Number(claims.exp) - Number(claims.iat)).toBe(1_800);
    expect(url.searchParams.get('response_type')).toBe('code id_token');
  });
});

describe('tokens of our own', () => {
  it('are asked for once, kept until they expire, and forgotten when refused', async () => {
    let at = now();
    const openid = new OpenId(institution, { ...tools, now: () => at });
    answer = { access_token: 'client-1', token_type: 'bearer', expires_in: 600 };
    await Promise.all([openid.clientToken(call, 'accounts'), openid.clientToken(call, 'accounts')]);
    expect(await openid.clientToken(call, 'accounts')).toBe('client-1');
    expect(tokenCalls()).toBe(1);
    openid.forgetClientToken('accounts');
    await openid.clientToken(call, 'accounts');
    expect(tokenCalls()).toBe(2);
    at = new Date(at.getTime() + 600_000);
    await openid.clientToken(call, 'accounts');
    expect(tokenCalls()).toBe(3);
    expect(asked.filter((each) => each.includes('openid-configuration'))).toHaveLength(1);
  });

  it.each([
    [400, '{"error":"invalid_scope"}', 'unauthorised', 'invalid_scope'],
    [401, '{"error":"invalid_client"}', 'unauthorised', 'invalid_client'],
    [503, 'busy', 'unavailable', undefined],
    [500, '{"error":"server_error"}', 'unavailable', undefined],
    [200, 'not json', 'malformed', expect.any(String)],
    [200, '{}', 'malformed', expect.any(String)],
  ])('refused with %i %s end as %s', async (status, body, kind, code) => {
    answered = [{ status, body }];
    const failed = new OpenId(institution, tools).clientToken(call, 'payments');
    await expect(failed).rejects.toMatchObject({ name: 'InstitutionError', kind, code });
  });

  it('that were refreshed are returned even when their id_token fails, and said to be unverified', async () => {
    answer = {
      access_token: 'a-2',
      token_type: 'bearer',
      refresh_token: 'r-2',
      id_token: await idToken({ aud: 'other' }),
    };
    const { tokens, verified } = await new OpenId(institution, tools).refresh(call, 'refresh-1');
    expect(verified).toBe(false);
    expect(tokens).toMatchObject({ accessToken: 'a-2', refreshToken: 'r-2' });
  });
});
