import { Provider, errors, interactionPolicy, type AdapterPayload, type Configuration } from 'oidc-provider';
import type { BankKeys } from '../bank-keys.js';
import type { BerlinGroupBank } from '../banks.js';
import { dayMs, type BankClock } from '../clock.js';
import { OidcAdapter } from '../oidc/adapter.js';
import { endpointAliases, mutualTls } from '../oidc/mutual-tls.js';
import { findPersona } from '../personas.js';
import { renderErrorPage } from '../psu-pages.js';
import type { Store } from '../store.js';
import type { Tpp } from '../tpps.js';

/** Seconds. */
const accessTokenLife = 900;
const chainLifeMs = 90 * dayMs;
const scopes = ['AIS', 'PIS'];
const backchannelGrant = 'urn:openid:params:grant-type:ciba';

interface PreStepBank {
  bank: BerlinGroupBank;
  address: string;
  /** Where its endpoints take certificates. */
  resources: string;
  keys: BankKeys;
  store: Store;
  clock: BankClock;
  tpps: readonly Tpp[];
}

/**
 * The authorisation server of a bank with an OAuth 2.0 pre-step (NextGenPSD2 1.3.x, section 13.1): the code flow with PKCE
 * (RFC 7636) gives a token that says who the PSU is. The certificate of mutual TLS tells who the TPP is, and the token works
 * under no other. Refresh tokens are used once, and the whole chain ends after ninety days. Where the pre-step is on the PSU's
 * device, the token is asked for without a browser (OpenID Connect CIBA 1.0, poll mode; the hint is the PSU-ID).
 */
export function createPreStepServer(parts: PreStepBank): Provider {
  const { bank, address, store, clock, tpps } = parts;
  const provider = new Provider(address, {
    ...configuration(parts),
    adapter: (model: string) =>
      new OidcAdapter({ store, clock, bank: bank.id, model, client: (id) => registration(bank, tpps, id) }),
  });
  provider.proxy = true;
  return provider;
}

function configuration({ bank, address, resources, keys, store, clock }: PreStepBank): Configuration {
  const cookie = { httpOnly: true, sameSite: 'lax', overwrite: true, signed: true } as const;
  return {
    jwks: { keys: [keys.privateJwk] },
    cookies: {
      keys: [keys.cookieKey],
      names: { interaction: `${bank.id}_login`, resume: `${bank.id}_resume`, session: `${bank.id}_session` },
      long: { ...cookie, path: `/banks/${bank.id}` },
      short: cookie,
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      userinfo: { enabled: false },
      mTLS: mutualTls,
      ...(bank.preStep === 'device' ? { ciba: backchannel } : {}),
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    },
    clientAuthMethods: ['tls_client_auth'],
    discovery: { mtls_endpoint_aliases: aliasesOf(bank, resources) },
    clientDefaults: { id_token_signed_response_alg: 'PS256' },
    enabledJWA: { idTokenSigningAlgValues: ['PS256'] },
    responseTypes: ['code'],
    scopes: scopesOf(bank),
    pkce: { required: () => true },
    ttl: {
      AccessToken: accessTokenLife,
      AuthorizationCode: 60,
      BackchannelAuthenticationRequest: 600,
      IdToken: 600,
      Interaction: 900,
      Session: 900,
      Grant: chainLifeMs / 1000,
      // Renewing does not lengthen the chain: it ends ninety days after the PSU logged in.
      RefreshToken: (_ctx, token) =>
        Math.max(1, Math.floor((chainStart(store, bank, token.grantId, clock) + chainLifeMs - clock.now()) / 1000)),
    },
    expiresWithSession: () => false,
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    interactions: { policy: policy(), url: (_ctx, interaction) => `${address}/login/${interaction.uid}` },
    renderError: (ctx, out) => {
      ctx.type = 'html';
      ctx.body = renderErrorPage(bank, out.error_description ?? out.error);
    },
  };
}

/** The device's page finds the requests by itself; nothing is said or typed besides the hint. */
const backchannel: NonNullable<Configuration['features']>['ciba'] = {
  enabled: true,
  deliveryModes: ['poll'],
  processLoginHint: async (_ctx, hint) => findPersona(hint ?? '')?.id,
  triggerAuthenticationDevice: async () => {},
  validateBindingMessage: async () => {},
  validateRequestContext: async () => {},
  verifyUserCode: async () => {},
};

/** CIBA is of OpenID Connect, so what is asked for there is an identity. */
function scopesOf({ preStep }: BerlinGroupBank): string[] {
  return preStep === 'device' ? ['openid', ...scopes] : scopes;
}

function aliasesOf({ preStep }: BerlinGroupBank, resources: string): Record<string, string> {
  const usual = endpointAliases(resources);
  return preStep === 'device' ? { ...usual, backchannel_authentication_endpoint: `${resources}/backchannel` } : usual;
}

/** When the PSU logged in, which is when the grant was made. */
function chainStart(store: Store, bank: BerlinGroupBank, grantId: string | undefined, clock: BankClock): number {
  const sql = "SELECT expiresAt FROM oidc WHERE bank = ? AND model = 'Grant' AND id = ?";
  const grant = store.get<{ expiresAt: number | null }>(sql, bank.id, grantId ?? '');
  return (grant?.expiresAt ?? clock.now() + chainLifeMs) - chainLifeMs;
}

/** One visit to the bank's pages for every authorisation; nothing but its own result satisfies it. */
function policy(): interactionPolicy.Prompt[] {
  const { Check, Prompt } = interactionPolicy;
  const visit = new Check('visit_needed', 'the PSU has to log in', (ctx) => {
    const scope = ctx.oidc.params?.['scope'];
    const asked = typeof scope === 'string' ? scope.split(' ') : [];
    if (!scopes.some((each) => asked.includes(each)))
      throw new errors.InvalidScope('scope must be AIS or PIS', asked.join(' '));
    return ctx.oidc.result?.consent?.grantId ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
  });
  return [new Prompt({ name: 'login', requestable: true }, visit), new Prompt({ name: 'consent', requestable: true })];
}

function registration(bank: BerlinGroupBank, tpps: readonly Tpp[], id: string): AdapterPayload | undefined {
  const tpp = tpps.find((each) => each.clientId === id && each.banks.includes(bank.id));
  if (!tpp) return undefined;
  const onDevice = bank.preStep === 'device';
  return {
    client_id: tpp.clientId,
    redirect_uris: tpp.redirectUris,
    token_endpoint_auth_method: 'tls_client_auth',
    tls_client_auth_subject_dn: tpp.certificateSubject,
    tls_client_certificate_bound_access_tokens: true,
    id_token_signed_response_alg: 'PS256',
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token', ...(onDevice ? [backchannelGrant] : [])],
    ...(onDevice ? { backchannel_token_delivery_mode: 'poll' } : {}),
    scope: scopesOf(bank).join(' '),
  };
}
