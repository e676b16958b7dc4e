import { randomUUID } from 'node:crypto';
import { CompactSign, exportJWK, generateKeyPair, type CryptoKey } from 'jose';
import * as client from 'openid-client';
import { Agent, fetch as undiciFetch } from 'undici';
import { distinguishedName } from '../../stack/src/certificates.js';
import { bankCertificates, makeTransport, tppSubject } from '../../../test/support/certificates.js';
import { startSandbox, type Sandbox } from './app.js';
import { banks } from './banks.js';
import { wallClock } from './clock.js';
import type { Tpp } from './tpps.js';

/** A TPP for the specs: openid-client with a key and a certificate of its own, and a sandbox that knows it. */
export interface TppFixture {
  sandbox: Sandbox;
  tpp: Tpp;
  key: CryptoKey;
  /** Calls a bank under the TPP's certificate. */
  fetch: Fetch;
  close(): Promise<void>;
}
export type Fetch = (url: string | URL, init?: Parameters<typeof undiciFetch>[1]) => Promise<Response>;

export const redirectUri = 'http://localhost:3000/callback';
let made: Promise<{ tpp: Tpp; key: CryptoKey }> | undefined;

/** One registration for all specs: making a key is slow. */
const transport = makeTransport();

export function registeredTpp(): Promise<{ tpp: Tpp; key: CryptoKey }> {
  made ??= makeTpp();
  return made;
}

async function makeTpp(): Promise<{ tpp: Tpp; key: CryptoKey }> {
  const pair = await generateKeyPair('PS256', { extractable: true });
  const { kty, n, e } = await exportJWK(pair.publicKey);
  const tpp: Tpp = {
    clientId: 'tpp-under-test',
    name: 'Spec & Sons',
    jwks: { keys: [{ kty, n, e, kid: 'tpp-1', alg: 'PS256', use: 'sig' }] },
    redirectUris: [redirectUri],
    organisationId: 'org-7',
    softwareStatementId: 'ssa-9',
    certificateSubject: distinguishedName(transport),
    organisationIdentifier: tppSubject.organisationIdentifier,
    banks: banks.map((bank) => bank.id),
  };
  return { tpp, key: pair.privateKey };
}

/** A sandbox on free ports of the loopback; in memory unless a file is named. */
export async function startForTest(file = ':memory:', ports = { plain: 0, secure: 0 }): Promise<TppFixture> {
  const { tpp, key } = await registeredTpp();
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    plain: { port: ports.plain },
    secure: { port: ports.secure, ...bankCertificates },
    file,
    tpps: [tpp],
    hasControl: true,
  });
  const ours = fetchUnder(transport);
  const close = async (): Promise<void> => void (await Promise.all([ours.close(), sandbox.close()]));
  return { sandbox, tpp, key, fetch: ours.fetch, close };
}

/** `fetch` under a certificate, or under none, with connections of its own. */
export function fetchUnder(shown: Partial<ReturnType<typeof makeTransport>>): { fetch: Fetch; close(): Promise<void> } {
  const { certificate: cert, key, ca = bankCertificates.ca } = shown;
  const agent = new Agent({ connect: { cert, key, ca } });
  return {
    fetch: (url, init) => undiciFetch(url, { ...init, dispatcher: agent }),
    close: () => agent.destroy(),
  };
}

/** The TPP's view of one bank. */
export class TppAtBank {
  #config: client.Configuration | undefined;

  constructor(
    private readonly fixture: TppFixture,
    readonly bank: 'meridian' | 'tamar' | 'thistle',
    private readonly callback = redirectUri,
  ) {}

  get issuer(): string {
    return `${this.fixture.sandbox.url}/banks/${this.bank}`;
  }

  get api(): string {
    return `${this.fixture.sandbox.tlsUrl}/banks/${this.bank}/open-banking/${this.bank === 'thistle' ? 'v3.1' : 'v4.0'}`;
  }

  async config(): Promise<client.Configuration> {
    if (this.#config) return this.#config;
    const key = { key: this.fixture.key, kid: 'tpp-1' };
    const { fetch } = this.fixture;
    const metadata = {
      use_mtls_endpoint_aliases: true,
      id_token_signed_response_alg: 'PS256',
      request_object_signing_alg: 'PS256',
      authorization_signed_response_alg: 'PS256',
    };
    const config = await client.discovery(
      new URL(this.issuer),
      this.fixture.tpp.clientId,
      metadata,
      this.bank === 'tamar' ? client.TlsClientAuth() : client.PrivateKeyJwt(key),
      { execute: [client.allowInsecureRequests], [client.customFetch]: fetch },
    );
    if (this.bank !== 'tamar') {
      client.useCodeIdTokenResponseType(config);
      client.enableDetachedSignatureResponseChecks(config);
    } else {
      client.useJwtResponseMode(config);
    }
    this.#config = config;
    return config;
  }

  async clientToken(scope: 'accounts' | 'payments'): Promise<string> {
    return (await client.clientCredentialsGrant(await this.config(), { scope })).access_token;
  }

  /** The address to send the PSU to, and what to check the answer with. */
  async authorisationUrl(
    consentId: string,
    scope: 'accounts' | 'payments',
  ): Promise<{ url: URL; state: string; nonce: string }> {
    const state = randomUUID();
    const nonce = randomUUID();
    const intent = { openbanking_intent_id: { value: consentId, essential: true } };
    const claims = {
      userinfo: intent,
      id_token: {
        ...intent,
        acr: { essential: true, values: ['urn:openbanking:psd2:sca', 'urn:openbanking:psd2:ca'] },
      },
    };
    const params = {
      redirect_uri: this.callback,
      scope: `openid ${scope}`,
      state,
      nonce,
      claims: JSON.stringify(claims),
    };
    const key = { key: this.fixture.key, kid: 'tpp-1' };
    const url = await client.buildAuthorizationUrlWithJAR(await this.config(), params, key, {
      [client.modifyAssertion]: (_header, payload) => {
        payload['exp'] = Number(payload['iat']) + 600;
      },
    });
    return { url, state, nonce };
  }

  /** Plays the PSU through the bank's pages; answers the bank's raw redirect. */
  async visit(
    url: URL,
    wish: { decision?: 'approve' | 'deny'; persona?: string; accounts?: string[] } = {},
  ): Promise<URL> {
    const answer = await this.control('authorise', {
      authorisationUrl: url.href,
      decision: 'approve',
      follow: false,
      ...wish,
    });
    if (answer.status !== 200) throw new Error(`authorise answered ${answer.status}: ${await answer.text()}`);
    return new URL(((await answer.json()) as { redirectUrl: string }).redirectUrl);
  }

  async exchange(
    callback: URL,
    { state, nonce }: { state: string; nonce: string },
  ): Promise<client.TokenEndpointResponse & client.TokenEndpointResponseHelpers> {
    return client.authorizationCodeGrant(await this.config(), callback, { expectedState: state, expectedNonce: nonce });
  }

  /** The whole way from a consent to a token. */
  async authorise(
    consentId: string,
    scope: 'accounts' | 'payments',
    wish: { persona?: string; accounts?: string[] } = {},
  ): Promise<client.TokenEndpointResponse & client.TokenEndpointResponseHelpers> {
    const asked = await this.authorisationUrl(consentId, scope);
    return this.exchange(await this.visit(asked.url, wish), asked);
  }

  async createAccountConsent(permissions: string[] = everything, more: object = {}): Promise<string> {
    const answer = await this.post('/aisp/account-access-consents', await this.clientToken('accounts'), {
      Data: { Permissions: permissions, ...more },
      Risk: {},
    });
    return ((await answer.json()) as { Data: { ConsentId: string } }).Data.ConsentId;
  }

  get(path: string, token: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.fixture.fetch(path.startsWith('http') ? path : `${this.api}${path}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  }

  post(path: string, token: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    return this.fixture.fetch(`${this.api}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    });
  }

  control(path: string, body: object): Promise<Response> {
    return fetch(`${this.fixture.sandbox.url}/control/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  }

  /** A detached signature as a TPP makes it; members of `change` replace those of the header, undefined leaves one out. */
  async sign(body: string, change: Record<string, unknown> = {}): Promise<string> {
    const names = [
      'http://openbanking.org.uk/iat',
      'http://openbanking.org.uk/iss',
      'http://openbanking.org.uk/tan',
    ] as const;
    const { tpp, key } = this.fixture;
    const header = {
      alg: 'PS256',
      kid: 'tpp-1',
      typ: 'JOSE',
      cty: 'application/json',
      crit: [...names],
      [names[0]]: Math.floor(wallClock() / 1000) - 5,
      [names[1]]: `${tpp.organisationId}/${tpp.softwareStatementId}`,
      [names[2]]: 'openbanking.org.uk',
      ...change,
    };
    const compact = await new CompactSign(Buffer.from(body))
      .setProtectedHeader(header)
      .sign(key, { crit: Object.fromEntries(names.map((name) => [name, true])) });
    return compact.replace(/\..*\./, '..');
  }
}

export const everything = [
  'ReadAccountsDetail',
  'ReadBalances',
  'ReadTransactionsDetail',
  'ReadTransactionsCredits',
  'ReadTransactionsDebits',
];
