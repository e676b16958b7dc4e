import {
  Provider,
  errors,
  interactionPolicy,
  type AdapterPayload,
  type Configuration,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import type { BankKeys } from '../bank-keys.js';
import type { UkBank } from '../banks.js';
import { dayMs, type BankClock } from '../clock.js';
import { renderErrorPage } from '../psu-pages.js';
import type { Store } from '../store.js';
import type { Tpp } from '../tpps.js';
import { canBeAuthorised } from '../uk-open-banking/consent-state.js';
import type { Consent, Consents } from '../uk-open-banking/consents.js';
import type { PaymentBook } from '../uk-open-banking/payment-book.js';
import { OidcAdapter } from './adapter.js';
import { endpointAliases, mutualTls } from './mutual-tls.js';

export const scaAcr = 'urn:openbanking:psd2:sca';
export const intentClaim = 'openbanking_intent_id';
export const refreshEndClaim = 'http://openbanking.org.uk/refresh_token_expires_at';
/** Seconds. */
export const accessTokenLife = 600;

export interface BankContext {
  bank: UkBank;
  issuer: string;
  /** Where the bank's endpoints take certificates, without a slash at the end. */
  resources: string;
  keys: BankKeys;
  store: Store;
  clock: BankClock;
  consents: Consents;
  payments: PaymentBook;
  tpps: readonly Tpp[];
  /** Takes what should never happen. */
  report: (error: unknown) => void;
}

/** The bank's authorisation server: FAPI 1.0 Advanced with the UK's intent id, mutual TLS and bound tokens. */
export function createAuthorisationServer(context: BankContext): Provider {
  const { bank, issuer, store, clock, tpps } = context;
  const provider = new Provider(issuer, {
    ...configuration(context),
    adapter: (model: string) =>
      new OidcAdapter({
        store,
        clock,
        bank: bank.id,
        model,
        client: (id) =>
          registration(
            bank,
            tpps.find((tpp) => tpp.clientId === id),
          ),
      }),
  });
  allowLoopbackRedirects(provider);
  // The sandbox may stand behind a name of its own; the caller has put that name into the request already.
  provider.proxy = true;
  return provider;
}

function configuration(context: BankContext): Configuration {
  const { bank, issuer, resources, keys } = context;
  const cookie = { httpOnly: true, sameSite: 'lax', overwrite: true, signed: true } as const;
  return {
    jwks: { keys: [keys.privateJwk] },
    cookies: {
      keys: [keys.cookieKey],
      names: { interaction: `${bank.id}_visit`, resume: `${bank.id}_resume`, session: `${bank.id}_session` },
      long: { ...cookie, path: `/banks/${bank.id}` },
      short: cookie,
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      claimsParameter: { enabled: true },
      clientCredentials: { enabled: true },
      fapi: { enabled: true, profile: '1.0 Final' },
      jwtResponseModes: { enabled: true },
      requestObjects: { enabled: true, requireSignedRequestObject: true },
      mTLS: mutualTls,
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    },
    clientAuthMethods: [bank.clientAuthentication],
    discovery: { mtls_endpoint_aliases: { ...endpointAliases(resources), userinfo_endpoint: `${resources}/me` } },
    enabledJWA: {
      authorizationSigningAlgValues: ['PS256'],
      clientAuthSigningAlgValues: ['PS256'],
      idTokenSigningAlgValues: ['PS256'],
      requestObjectSigningAlgValues: ['PS256'],
      userinfoSigningAlgValues: ['PS256'],
    },
    responseTypes: ['code id_token', 'code'],
    scopes: ['openid', 'accounts', 'payments'],
    claims: { openid: ['sub', intentClaim, refreshEndClaim], [intentClaim]: null, [refreshEndClaim]: null, acr: null },
    acrValues: [scaAcr, 'urn:openbanking:psd2:ca'],
    ttl: lifetimes(context),
    // Tokens live as long as the grant says, not as long as the browser's session.
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client, code) => client.grantTypeAllowed('refresh_token') && code.scopes.has('accounts'),
    rotateRefreshToken: () => bank.rotatesRefreshTokens,
    findAccount: (ctx, sub, token) => ({ accountId: sub, claims: () => claimsOf(context, ctx, sub, token) }),
    interactions: { policy: policy(context), url: (_ctx, interaction) => `${issuer}/psu/${interaction.uid}` },
    renderError: (ctx, out) => {
      ctx.type = 'html';
      ctx.body = renderErrorPage(bank, out.error_description ?? out.error);
    },
  };
}

function lifetimes({ bank, clock, consents }: BankContext): Configuration['ttl'] {
  return {
    AccessToken: accessTokenLife,
    ClientCredentials: accessTokenLife,
    AuthorizationCode: 60,
    IdToken: 600,
    Interaction: 900,
    Session: 900,
    Grant: 2 * bank.refreshDays * 86_400,
    // A refreshed token does not outlive the days of the authorisation it stems from.
    RefreshToken: (_ctx, token) => {
      const consent = token.grantId === undefined ? undefined : consents.findByGrant(bank.id, token.grantId);
      return Math.max(1, Math.floor((refreshEnd({ bank, clock }, consent) - clock.now()) / 1000));
    },
  };
}

function refreshEnd({ bank, clock }: Pick<BankContext, 'bank' | 'clock'>, consent: Consent | undefined): number {
  const end = (consent?.authorisedAt ?? clock.now()) + bank.refreshDays * dayMs;
  return Math.min(end, consent?.expiresAt ?? end);
}

function claimsOf(
  { bank, clock, consents }: BankContext,
  ctx: KoaContextWithOIDC,
  sub: string,
  token: unknown,
): { sub: string; [claim: string]: string | number } {
  const fromToken = typeof token === 'object' && token !== null && 'grantId' in token ? token.grantId : undefined;
  const grantId = typeof fromToken === 'string' ? fromToken : ctx.oidc.entities.Grant?.jti;
  const consent = grantId === undefined ? undefined : consents.findByGrant(bank.id, grantId);
  if (!consent) return { sub };
  const claims = { sub, [intentClaim]: consent.id };
  return consent.family === 'account'
    ? { ...claims, [refreshEndClaim]: Math.floor(refreshEnd({ bank, clock }, consent) / 1000) }
    : claims;
}

/** The consent that an authorisation request names, or the reason why it cannot be authorised. */
export function intentOf({ bank, consents }: BankContext, params: Record<string, unknown>): Consent | string {
  const requested =
    typeof params['claims'] === 'string'
      ? (JSON.parse(params['claims']) as { id_token?: Record<string, { value?: unknown } | null> })
      : {};
  const intent = requested.id_token?.[intentClaim]?.value;
  if (typeof intent !== 'string') return `claims.id_token.${intentClaim} is missing`;
  const consent = consents.find(bank.id, intent);
  if (!consent || consent.clientId !== params['client_id']) return `${intentClaim} names no consent`;
  const scopes = typeof params['scope'] === 'string' ? params['scope'].split(' ') : [];
  if (!scopes.includes(consent.family === 'account' ? 'accounts' : 'payments')) return 'scope does not fit the consent';
  return canBeAuthorised(consent.family, consent.status) ? consent : 'the consent cannot be authorised any more';
}

/**
 * One visit to the bank's own pages per authorisation: they log in, apply SCA, show the consent and let the PSU decide. So there is
 * one prompt, and it is satisfied by nothing but its own result.
 */
function policy(context: BankContext): interactionPolicy.Prompt[] {
  const { Check, Prompt } = interactionPolicy;
  const visit = new Check('visit_needed', 'the PSU has to decide', (ctx) => {
    const intent = intentOf(context, ctx.oidc.params ?? {});
    if (ctx.oidc.result?.consent?.grantId) return Check.NO_NEED_TO_PROMPT;
    if (typeof intent === 'string') throw new errors.InvalidRequest(intent);
    return Check.REQUEST_PROMPT;
  });
  return [new Prompt({ name: 'login', requestable: true }, visit), new Prompt({ name: 'consent', requestable: true })];
}

function registration(bank: UkBank, tpp: Tpp | undefined): AdapterPayload | undefined {
  if (!tpp?.banks.includes(bank.id)) return undefined;
  const isHybrid = bank.authorisationResponse === 'hybrid';
  return {
    client_id: tpp.clientId,
    jwks: tpp.jwks,
    redirect_uris: tpp.redirectUris,
    token_endpoint_auth_method: bank.clientAuthentication,
    ...(bank.clientAuthentication === 'tls_client_auth'
      ? { tls_client_auth_subject_dn: tpp.certificateSubject }
      : { token_endpoint_auth_signing_alg: 'PS256' }),
    tls_client_certificate_bound_access_tokens: bank.bindsTokens,
    request_object_signing_alg: 'PS256',
    id_token_signed_response_alg: 'PS256',
    authorization_signed_response_alg: 'PS256',
    response_types: [isHybrid ? 'code id_token' : 'code'],
    grant_types: [
      'authorization_code',
      'refresh_token',
      'client_credentials',
      ...(isHybrid ? ['implicit' as const] : []),
    ],
    scope: 'openid accounts payments',
  };
}

type WithSchema = Provider['Client'] & { Schema: { prototype: { invalidate(message: string, code?: string): void } } };

/** On one machine the TPP's callback is plain http on localhost, which the hybrid flow's registration rules refuse otherwise. */
function allowLoopbackRedirects(provider: Provider): void {
  const schema = (provider.Client as WithSchema).Schema.prototype;
  const refuse: unknown = Reflect.get(schema, 'invalidate');
  schema.invalidate = function invalidate(message, code) {
    if (code === 'implicit-force-https' || code === 'implicit-forbid-localhost') return;
    if (typeof refuse === 'function') refuse.call(this, message, code);
  };
}
