import * as client from 'openid-client';
import type { Call, Institution, Tools } from '../connector.js';
import { openidFailure } from '../openid-failure.js';

/** OAuth 2.0 as section 13 uses it, on openid-client: the code flow with PKCE at a server whose metadata a link names. */

/** What a code or a refresh token gave. `accessTokenExpiresAt` is milliseconds since the epoch. */
export interface Tokens {
  /** Where the server describes itself. */
  metadataUrl: string;
  accessToken: string;
  accessTokenExpiresAt: number;
  refreshToken?: string;
}

/** A question to the PSU's own device, and how its answer is asked for. */
export interface BackchannelRequest {
  metadataUrl: string;
  requestId: string;
}

const BACKCHANNEL_GRANT = 'urn:openid:params:grant-type:ciba';

/** What must be remembered between the request and its answer. */
export interface OAuthRequest {
  metadataUrl: string;
  state: string;
  redirectUri: string;
  codeVerifier: string;
  scope: string;
}

const METADATA_MS = 3_600_000;
/** A token is taken as expired a little early, so that it does not die on the way. */
const EXPIRY_MARGIN_MS = 10_000;

export class OAuth {
  readonly #institution: Institution<'berlin-group'>;
  readonly #tools: Tools;
  readonly #servers = new Map<string, { metadata: client.ServerMetadata; until: number }>();

  constructor(institution: Institution<'berlin-group'>, tools: Tools) {
    this.#institution = institution;
    this.#tools = tools;
  }

  /** Where the PSU goes for a token. */
  async begin(call: Call, asked: Omit<OAuthRequest, 'codeVerifier'>): Promise<{ url: string; request: OAuthRequest }> {
    const request = { ...asked, codeVerifier: client.randomPKCECodeVerifier() };
    const codeChallenge = await client.calculatePKCECodeChallenge(request.codeVerifier);
    const url = await this.#run(call, request.metadataUrl, async (config) =>
      client.buildAuthorizationUrl(config, {
        redirect_uri: request.redirectUri,
        scope: request.scope,
        state: request.state,
        code_challenge: codeChallenge,
        code_challenge_method: 'S256',
      }),
    );
    return { url: url.href, request };
  }

  /** Tokens for the code that came back. Throws AuthorizationResponseError when the PSU or the server said no. */
  exchange(call: Call, request: OAuthRequest, callback: URLSearchParams): Promise<Tokens> {
    const url = new URL(request.redirectUri);
    url.search = callback.toString();
    return this.#run(call, request.metadataUrl, async (config) =>
      this.#tokens(
        request.metadataUrl,
        await client.authorizationCodeGrant(config, url, {
          expectedState: request.state,
          pkceCodeVerifier: request.codeVerifier,
        }),
      ),
    );
  }

  /** Asks the PSU on their own device (CIBA 1.0, section 7). `loginHint` says whose it is. */
  askDevice(
    call: Call,
    { metadataUrl, scope, loginHint }: { metadataUrl: string; scope: string; loginHint: string },
  ): Promise<BackchannelRequest> {
    const asked = { scope: `openid ${scope}`, login_hint: loginHint };
    return this.#run(call, metadataUrl, async (config) => {
      const { auth_req_id: requestId } = await client.initiateBackchannelAuthentication(config, asked);
      return { metadataUrl, requestId };
    });
  }

  /** One look at the answer (section 10.1, poll mode). Throws what the server says while there is none. */
  deviceTokens(call: Call, { metadataUrl, requestId }: BackchannelRequest): Promise<Tokens> {
    return this.#run(call, metadataUrl, async (config) =>
      this.#tokens(
        metadataUrl,
        await client.genericGrantRequest(config, BACKCHANNEL_GRANT, { auth_req_id: requestId }),
      ),
    );
  }

  refresh(call: Call, { metadataUrl, refreshToken }: { metadataUrl: string; refreshToken: string }): Promise<Tokens> {
    return this.#run(call, metadataUrl, async (config) => ({
      refreshToken,
      ...this.#tokens(metadataUrl, await client.refreshTokenGrant(config, refreshToken)),
    }));
  }

  #tokens(metadataUrl: string, answer: client.TokenEndpointResponse): Tokens {
    // A server that names no life gets the shortest usual one.
    const life = (answer.expires_in ?? 300) * 1000 - EXPIRY_MARGIN_MS;
    return {
      metadataUrl,
      accessToken: answer.access_token,
      accessTokenExpiresAt: this.#tools.now().getTime() + life,
      ...(answer.refresh_token ? { refreshToken: answer.refresh_token } : {}),
    };
  }

  async #run<T>(call: Call, metadataUrl: string, work: (config: client.Configuration) => Promise<T>): Promise<T> {
    const { credentials } = this.#tools;
    try {
      const metadata = await this.#metadata(call, metadataUrl);
      // RFC 8705, section 5: where the server takes certificates, if that is another address.
      const settings = { use_mtls_endpoint_aliases: credentials.transport !== undefined };
      // The certificate of mutual TLS says who we are; the client id only repeats it.
      const config = new client.Configuration(metadata, credentials.clientId, settings, client.TlsClientAuth());
      config[client.customFetch] = this.#fetcher(call);
      if (this.#isPlain(metadataUrl)) client.allowInsecureRequests(config);
      return await work(config);
    } catch (fault) {
      if (call.signal.aborted) throw call.signal.reason;
      throw openidFailure(fault, this.#tools.now());
    }
  }

  async #metadata(call: Call, metadataUrl: string): Promise<client.ServerMetadata> {
    const now = this.#tools.now().getTime();
    const held = this.#servers.get(metadataUrl);
    if (held && held.until > now) return held.metadata;
    const { clientId } = this.#tools.credentials;
    const config = await client.discovery(new URL(metadataUrl), clientId, undefined, client.TlsClientAuth(), {
      algorithm: 'oauth2',
      [client.customFetch]: this.#fetcher(call),
      ...(this.#isPlain(metadataUrl) ? { execute: [client.allowInsecureRequests] } : {}),
    });
    const metadata = config.serverMetadata();
    this.#servers.set(metadataUrl, { metadata, until: now + METADATA_MS });
    return metadata;
  }

  /** Only a sandbox has a plain http address. */
  #isPlain(metadataUrl: string): boolean {
    return this.#institution.environmentType === 'SANDBOX' && metadataUrl.startsWith('http:');
  }

  #fetcher(call: Call): client.CustomFetch {
    const { http, credentials } = this.#tools;
    return http.fetcher({ ...call, institutionId: this.#institution.id, transport: credentials.transport });
  }
}
