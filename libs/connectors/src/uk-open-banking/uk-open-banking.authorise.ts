import { randomBytes } from 'node:crypto';
import * as client from 'openid-client';
import type { PaymentRequest } from '#libs/contract';
import type { AccountAccess, Answer, Call, Grant, Institution, PaymentAccess, Step } from '../connector.js';
import { withinChain } from '../refresh-chain.js';
import { InstitutionError, mask } from '../institution-error.js';
import { instantIfAny, textOf, unreadable } from '../wire.js';
import { permissions } from './codes.js';
import type { GrantState } from './uk-open-banking.access.js';
import type { UkOpenBankingApi } from './uk-open-banking.api.js';
import type { Authorised } from './uk-open-banking.exchange.js';
import type { Expected, OpenId } from './uk-open-banking.openid.js';
import type { OBReadConsent1, OBWriteDomesticConsent4, UkOpenBankingQuirks, Version } from './uk-open-banking.types.js';

const DAY_MS = 86_400_000;
const EXPIRY_MARGIN_MS = 3_600_000;

/** What is remembered while the PSU is at the bank. */
interface PendingState extends Expected {
  version?: Version;
  payment?: GrantState['payment'];
}

export interface AuthoriseParts {
  institution: Institution;
  api: UkOpenBankingApi;
  openid: OpenId;
  map: UkOpenBankingQuirks;
  now: () => Date;
  /** The version that new consents are made on. */
  version: Version;
}

/** Registers an account access consent and sends the PSU to the bank; a renewal reuses the consent (section 2.4). */
export async function authoriseAccounts(parts: AuthoriseParts, call: Call, access: AccountAccess): Promise<Step> {
  const { renews } = access;
  const consent = renews
    ? { consentId: renews.institutionConsentId, expiresAt: renews.expiresAt }
    : await registerAccountConsent(parts, call, access);
  return redirect(parts, call, {
    access,
    scope: 'accounts',
    version: renews ? versionOf(renews, parts.version) : parts.version,
    consentId: consent.consentId,
    ...(consent.expiresAt ? { expiresAt: consent.expiresAt } : {}),
  });
}

async function registerAccountConsent(parts: AuthoriseParts, call: Call, access: AccountAccess) {
  const { api, openid, version } = parts;
  const body = toAccountConsent({ ...access, ...endOf(access, parts) });
  const { Data } = await withClientToken(openid, { call, scope: 'accounts', version }, (authorised) =>
    api.createAccountConsent(authorised, body),
  );
  // The bank's date counts, not ours: some shorten what was asked (quirk Q24).
  const expiresAt = instantIfAny(Data.ExpirationDateTime, 'ExpirationDateTime');
  return { consentId: textOf(Data.ConsentId, 'ConsentId'), expiresAt: expiresAt ? new Date(expiresAt) : undefined };
}

function endOf({ expiresAt }: AccountAccess, { institution, now }: AuthoriseParts): Pick<AccountAccess, 'expiresAt'> {
  if (institution.isLongLived || !expiresAt) return {};
  // Its clock may be behind ours, and then exactly as long as it allows is too long (quirk Q24).
  const latest = new Date(now().getTime() + institution.maxConsentDays * DAY_MS - EXPIRY_MARGIN_MS);
  return expiresAt > latest ? { expiresAt: latest } : {};
}

function toAccountConsent(access: AccountAccess): OBReadConsent1 {
  const wanted = new Set(access.featureScope.flatMap((feature) => permissions[feature] ?? []));
  // A consent must let us read accounts at least, whatever else it is for.
  wanted.add('ReadAccountsDetail');
  // A Detail permission includes its Basic one.
  for (const permission of wanted) {
    if (wanted.has(permission.replace(/Basic$/, 'Detail')) && permission.endsWith('Basic')) wanted.delete(permission);
  }
  return {
    Data: {
      Permissions: [...wanted].toSorted(),
      ...(access.expiresAt ? { ExpirationDateTime: access.expiresAt.toISOString() } : {}),
      ...(access.transactionFrom ? { TransactionFromDateTime: access.transactionFrom.toISOString() } : {}),
      ...(access.transactionTo ? { TransactionToDateTime: access.transactionTo.toISOString() } : {}),
    },
    Risk: {},
  };
}

/** Registers a domestic payment consent and sends the PSU to the bank. What was registered is kept for the order. */
export async function authorisePayment(
  parts: AuthoriseParts,
  call: Call,
  { payment, access }: { payment: PaymentRequest; access: PaymentAccess },
): Promise<Step> {
  const { api, openid, map, version } = parts;
  const body: OBWriteDomesticConsent4 = map.toDomesticConsent(payment, version);
  const { Data } = await withClientToken(openid, { call, scope: 'payments', version }, (authorised) =>
    api.createDomesticConsent(authorised, body, access.idempotencyKey),
  );
  return redirect(parts, call, {
    access,
    scope: 'payments',
    version,
    consentId: textOf(Data.ConsentId, 'ConsentId'),
    payment: { initiation: body.Data.Initiation, risk: body.Risk },
  });
}

async function redirect(
  { openid }: AuthoriseParts,
  call: Call,
  asked: {
    access: { state: string; redirectUri: string };
    scope: Expected['scope'];
    version: Version;
    consentId: string;
    expiresAt?: Date;
    payment?: GrantState['payment'];
  },
): Promise<Step> {
  const state: PendingState = {
    consentId: asked.consentId,
    scope: asked.scope,
    version: asked.version,
    state: asked.access.state,
    nonce: randomBytes(24).toString('base64url'),
    codeVerifier: client.randomPKCECodeVerifier(),
    redirectUri: asked.access.redirectUri,
    ...(asked.payment ? { payment: asked.payment } : {}),
  };
  const url = await openid.authorisationUrl(call, state);
  return {
    kind: 'redirect',
    url,
    pending: {
      institutionConsentId: asked.consentId,
      state,
      ...(asked.expiresAt ? { expiresAt: asked.expiresAt } : {}),
    },
  };
}

/** Faults of the bank itself on the redirect (RFC 6749, 4.1.2.1); every other error there is a refusal. */
const bankFaults = new Set(['server_error', 'temporarily_unavailable']);
/** Errors that say our request was wrong: the PSU has not refused anything. */
const ourFaults = new Set([
  'invalid_request',
  'invalid_request_object',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_response_type',
]);

/** The PSU is back: everything is checked, then the code becomes tokens. */
export async function proceed(
  { institution, openid, now, version: latest }: AuthoriseParts,
  call: Call,
  pending: Grant,
  answer: Answer,
): Promise<Step> {
  if (!('callback' in answer)) throw new TypeError('UK Open Banking is authorised by redirect only');
  const { payment, version = latest, ...expected } = pendingOf(pending);
  try {
    const tokens = await openid.exchange(call, expected, answer.callback);
    const { scope } = expected;
    const authorisedAt = now().getTime();
    const state: GrantState = { ...tokens, scope, version, authorisedAt, ...(payment ? { payment } : {}) };
    const grant: Grant = { ...pending, state };
    return { kind: 'authorised', grant: tokens.refreshToken ? withinChain(grant, institution, now()) : grant };
  } catch (fault) {
    if (!(fault instanceof client.AuthorizationResponseError)) throw fault;
    // The answer's state (and with JARM its signature) has been checked by now.
    const { error, error_description: description } = fault;
    if (bankFaults.has(error)) throw new InstitutionError('unavailable', description ?? error, { code: error });
    if (ourFaults.has(error)) throw new InstitutionError('rejected', description ?? error, { code: error });
    return { kind: 'rejected', reason: mask(description ?? error) };
  }
}

function pendingOf(pending: Grant): PendingState {
  const state = pending.state as Partial<PendingState> | null;
  if (!state?.nonce || !state.state || !state.codeVerifier || !state.redirectUri || !state.scope || !state.consentId) {
    throw unreadable('pending authorisation');
  }
  return state as PendingState;
}

/** The version a consent was made on, which is the one it is read on. Grants that name none are of the latest. */
export function versionOf(grant: Grant, latest: Version): Version {
  const state = grant.state as { version?: Version } | null;
  return state?.version ?? latest;
}

/** Client-credentials work, once more with a new token when the bank has ended the one we kept. */
export async function withClientToken<T>(
  openid: OpenId,
  { call, scope, version }: { call: Call; scope: Expected['scope']; version: Version },
  work: (authorised: Authorised) => Promise<T>,
): Promise<T> {
  try {
    return await work({ ...call, version, token: await openid.clientToken(call, scope) });
  } catch (fault) {
    if (!(fault instanceof InstitutionError) || fault.httpStatus !== 401) throw fault;
    openid.forgetClientToken(scope);
    return work({ ...call, version, token: await openid.clientToken(call, scope) });
  }
}
