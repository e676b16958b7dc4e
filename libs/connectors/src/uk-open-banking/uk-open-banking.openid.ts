import { importJWK, type CryptoKey } from 'jose';
import * as client from 'openid-client';
import type { Call, Institution, Tools } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import { claimsOf, halfHash, unverified } from './id-token.js';
import { once } from './jws.js';
import { openidFailure } from '../openid-failure.js';

/** Our part of FAPI 1.0 Advanced, on openid-client: discovery, tokens, the signed request, the checks of the answer. */

export type Scope = 'accounts' | 'payments';

/** What the bank gave for a code or a refresh token. Instants are milliseconds since the epoch. */
export interface Tokens {
  accessToken: string;
  accessTokenExpiresAt: number;
  refreshToken?: string;
  refreshTokenExpiresAt?: number;
  subject?: string;
}

/** What must be remembered between the request and its answer. */
export interface Expected {
  consentId: string;
  scope: Scope;
  state: string;
  nonce: string;
  codeVerifier: string;
  redirectUri: string;
}

const ACR = ['urn:openbanking:psd2:sca', 'urn:openbanking:psd2:ca'];
const REFRESH_EXPIRY = 'http://openbanking.org.uk/refresh_token_expires_at';
/** The standard allows 60 minutes; a customer who takes longer starts again. */
const REQUEST_OBJECT_S = 30 * 60;
const DISCOVERY_MS = 3_600_000;
/** What we sign must look made in the past to the bank; what the bank signed may look a little early to us. */
const CLOCK_MARGIN_S = 5;
const CLOCK_TOLERANCE_S = 60;
/** A token is taken as expired a little early, so that it does not die on the way. */
const EXPIRY_MARGIN_MS = 10_000;

export class OpenId {
  readonly #institution: Institution<'uk-open-banking'>;
  readonly #tools: Tools;
  readonly #key: () => Promise<CryptoKey>;
  #server: { metadata: Promise<client.ServerMetadata>; until: number } | undefined;
  #jwks: client.ExportedJWKSCache | undefined;
  readonly #clientTokens = new Map<Scope, { token: Promise<string>; until: number }>();

  constructor(institution: Institution<'uk-open-banking'>, tools: Tools) {
    this.#institution = institution;
    this.#tools = tools;
    this.#key = once(async () => {
      const key = await importJWK(tools.credentials.signingKey, 'PS256');
      if (key instanceof Uint8Array) throw new TypeError('The signing key must be a private RSA key');
      return key;
    });
  }

  /** A client-credentials token, kept until shortly before it expires and asked for once however many wait. */
  async clientToken(call: Call, scope: Scope): Promise<string> {
    const held = this.#clientTokens.get(scope);
    if (held && held.until > this.#tools.now().getTime()) return held.token;
    const entry = { token: this.#askClientToken(call, scope), until: Infinity };
    this.#clientTokens.set(scope, entry);
    try {
      return await entry.token;
    } catch (fault) {
      if (this.#clientTokens.get(scope) === entry) this.#clientTokens.delete(scope);
      throw fault;
    }
  }

  /** Forgets a client-credentials token that the bank refused. */
  forgetClientToken(scope: Scope): void {
    this.#clientTokens.delete(scope);
  }

  async #askClientToken(call: Call, scope: Scope): Promise<string> {
    return this.#run(
      call,
      async (config) => {
        const answer = await client.clientCredentialsGrant(config, { scope });
        const held = this.#clientTokens.get(scope);
        if (held) held.until = this.#expiry(answer.expires_in);
        return answer.access_token;
      },
      unhurried(),
    );
  }

  /** Where the PSU goes: a request object signed PS256, naming the consent as an essential claim (section 2.3 of the profile). */
  async authorisationUrl(call: Call, expected: Expected): Promise<string> {
    const intent = { value: expected.consentId, essential: true };
    const parameters = {
      redirect_uri: expected.redirectUri,
      scope: `openid ${expected.scope}`,
      state: expected.state,
      nonce: expected.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(expected.codeVerifier),
      code_challenge_method: 'S256',
      claims: JSON.stringify({
        id_token: { openbanking_intent_id: intent, acr: { essential: true, values: ACR } },
        userinfo: { openbanking_intent_id: intent },
      }),
    };
    return this.#run(call, async (config) => {
      const key = { key: await this.#key(), kid: this.#tools.credentials.kid };
      const url = await client.buildAuthorizationUrlWithJAR(config, parameters, key, {
        [client.modifyAssertion]: (_header, payload) => {
          payload['exp'] = Number(payload['iat']) + REQUEST_OBJECT_S;
        },
      });
      // OpenID Connect Core 6.1 wants these outside the request object too.
      url.searchParams.set('response_type', this.#isHybrid ? 'code id_token' : 'code');
      for (const name of ['scope', 'redirect_uri', 'state', 'nonce'] as const)
        url.searchParams.set(name, parameters[name]);
      return url.href;
    });
  }

  /** Checks the answer as the profile says, before its code is used, then the tokens that the code gives. */
  async exchange(call: Call, expected: Expected, callback: URLSearchParams): Promise<Tokens> {
    const front = this.#isHybrid ? claimsOf(callback.get('id_token')) : undefined;
    // The signature of these claims is checked below, still before the code goes out.
    if (front && front['openbanking_intent_id'] !== expected.consentId) throw unverified('openbanking_intent_id');
    const url = new URL(expected.redirectUri);
    if (this.#isHybrid) url.hash = callback.toString();
    else url.search = callback.toString();
    return this.#run(call, async (config) => {
      client.enableNonRepudiationChecks(config);
      const answer = await client.authorizationCodeGrant(config, url, {
        expectedState: expected.state,
        expectedNonce: expected.nonce,
        pkceCodeVerifier: expected.codeVerifier,
        idTokenExpected: true,
      });
      const claims = answer.claims();
      if (!claims) throw unverified('id_token');
      if (claims['openbanking_intent_id'] !== expected.consentId) throw unverified('openbanking_intent_id');
      if (typeof claims['acr'] !== 'string' || !ACR.includes(claims['acr'])) throw unverified('acr');
      if (front && front['sub'] !== claims.sub) throw unverified('sub');
      if (claims['at_hash'] !== undefined && claims['at_hash'] !== halfHash(answer.access_token))
        throw unverified('at_hash');
      return this.#tokens(answer);
    });
  }

  /**
   * New tokens for a refresh token. They are returned whatever their id_token looks like, so that a rotated refresh
   * token is never thrown away with it (quirk Q20); `verified` tells whether the id_token passed.
   */
  async refresh(call: Call, refreshToken: string): Promise<{ tokens: Tokens; verified: boolean }> {
    let raw: client.TokenEndpointResponse | undefined;
    const capture = (answer: client.TokenEndpointResponse): void => {
      raw = answer;
    };
    try {
      const tokens = await this.#run(
        call,
        async (config) => this.#tokens(await client.refreshTokenGrant(config, refreshToken)),
        { ...unhurried(), capture },
      );
      return { tokens, verified: true };
    } catch (fault) {
      if (raw?.access_token && fault instanceof InstitutionError && fault.kind === 'malformed') {
        return { tokens: this.#tokens(raw), verified: false };
      }
      throw fault;
    }
  }

  get #isHybrid(): boolean {
    return this.#institution.settings.responseMode === 'fragment';
  }

  #expiry(seconds: number | undefined): number {
    // A bank that names no life gets the shortest usual one.
    return this.#tools.now().getTime() + (seconds ?? 300) * 1000 - EXPIRY_MARGIN_MS;
  }

  #tokens(answer: client.TokenEndpointResponse): Tokens {
    const claims = answer.id_token ? claimsOf(answer.id_token) : undefined;
    const end = claims?.[REFRESH_EXPIRY];
    return {
      accessToken: answer.access_token,
      accessTokenExpiresAt: this.#expiry(answer.expires_in),
      ...(answer.refresh_token ? { refreshToken: answer.refresh_token } : {}),
      ...(typeof end === 'number' ? { refreshTokenExpiresAt: end * 1000 } : {}),
      ...(typeof claims?.['sub'] === 'string' ? { subject: claims['sub'] } : {}),
    };
  }

  async #run<T>(
    call: Call,
    work: (config: client.Configuration) => Promise<T>,
    how: { signal?: AbortSignal; capture?: (answer: client.TokenEndpointResponse) => void } = {},
  ): Promise<T> {
    const fetcher = this.#fetcher({ ...call, ...(how.signal ? { signal: how.signal } : {}) }, how.capture);
    try {
      const config = await this.#configuration(call, fetcher);
      try {
        return await work(config);
      } finally {
        this.#jwks = client.getJwksCache(config) ?? this.#jwks;
      }
    } catch (fault) {
      if (call.signal.aborted && !how.signal) throw call.signal.reason;
      throw openidFailure(fault, this.#tools.now());
    }
  }

  async #configuration(call: Call, fetcher: client.CustomFetch): Promise<client.Configuration> {
    const { clientId, kid } = this.#tools.credentials;
    const isByCertificate = this.#institution.settings.clientAuthentication === 'tls_client_auth';
    const auth = isByCertificate ? client.TlsClientAuth() : client.PrivateKeyJwt({ key: await this.#key(), kid });
    const metadata = await this.#discovered(call);
    const settings = {
      // RFC 8705, section 5: where the bank takes certificates, if that is another address.
      use_mtls_endpoint_aliases: this.#tools.credentials.transport !== undefined,
      id_token_signed_response_alg: 'PS256',
      authorization_signed_response_alg: 'PS256',
      [client.clockSkew]: (this.#institution.clockSkewSeconds ?? 0) - CLOCK_MARGIN_S,
      [client.clockTolerance]: CLOCK_TOLERANCE_S,
    };
    const config = new client.Configuration(metadata, clientId, settings, auth);
    config[client.customFetch] = fetcher;
    if (this.#isPlain) client.allowInsecureRequests(config);
    if (this.#isHybrid) {
      client.useCodeIdTokenResponseType(config);
      client.enableDetachedSignatureResponseChecks(config);
    } else client.useJwtResponseMode(config);
    if (this.#jwks) client.setJwksCache(config, this.#jwks);
    return config;
  }

  /** Only a sandbox has a plain http address. */
  get #isPlain(): boolean {
    return this.#institution.environmentType === 'SANDBOX' && this.#institution.baseUrl.startsWith('http:');
  }

  async #discovered(call: Call): Promise<client.ServerMetadata> {
    if (this.#server && this.#server.until > this.#tools.now().getTime()) return this.#server.metadata;
    const entry = { metadata: this.#discover(call), until: this.#tools.now().getTime() + DISCOVERY_MS };
    this.#server = entry;
    try {
      return await entry.metadata;
    } catch (fault) {
      if (this.#server === entry) this.#server = undefined;
      throw fault;
    }
  }

  async #discover(call: Call): Promise<client.ServerMetadata> {
    const config = await client.discovery(
      new URL(this.#institution.baseUrl),
      this.#tools.credentials.clientId,
      undefined,
      client.None(),
      {
        [client.customFetch]: this.#fetcher({ ...call, ...unhurried() }),
        ...(this.#isPlain ? { execute: [client.allowInsecureRequests] } : {}),
      },
    );
    return config.serverMetadata();
  }

  #fetcher(call: Call, capture?: (answer: client.TokenEndpointResponse) => void): client.CustomFetch {
    const { transport } = this.#tools.credentials;
    const send = this.#tools.http.fetcher({ institutionId: this.#institution.id, transport, ...call });
    return async (url, options) => {
      const response = await send(url, options);
      if (capture && response.ok && options.method === 'POST') {
        const answer: unknown = await response
          .clone()
          .json()
          .catch(() => undefined);
        if (isTokenAnswer(answer)) capture(answer);
      }
      return response;
    };
  }
}

/** Work that several calls wait for must not die with the one that began it; the deadline of the exchange still holds. */
function unhurried(): { signal: AbortSignal } {
  return { signal: new AbortController().signal };
}

function isTokenAnswer(answer: unknown): answer is client.TokenEndpointResponse {
  return (
    typeof answer === 'object' && answer !== null && 'access_token' in answer && typeof answer.access_token === 'string'
  );
}
