import * as client from 'openid-client';
import type { UserCredentials } from '#libs/contract';
import type { AccountAccess, Answer, Call, Grant, PreAuthorisationAccess, Step } from '../connector.js';
import { InstitutionError, mask } from '../institution-error.js';
import { textOf, unreadable } from '../wire.js';
import { stateOf } from './berlin-group.access.js';
import { LinkedError } from './berlin-group.api.js';
import type { BackchannelRequest, OAuthRequest, Tokens } from './berlin-group.openid.js';
import type { Consents } from './berlin-group.types.js';
import { notYet } from './sca-outcome.js';
import {
  advance,
  askToken,
  grantOf,
  senderFor,
  settle,
  wishes,
  type AuthoriseParts,
  type PendingState,
} from './sca-walk.js';

/** Asks for access (section 6.3), and follows the bank's links until somebody else has to act. */
export async function authoriseAccounts(
  parts: AuthoriseParts,
  call: Call,
  access: AccountAccess,
  who?: UserCredentials,
): Promise<Step> {
  const { institution, map, now } = parts;
  const { maxConsentDays, settings } = institution;
  const consents = map.toConsents(access, { today: now(), maxConsentDays, settings });
  const tokens = access.preAuthorised ? stateOf(access.preAuthorised).tokens : undefined;
  const process: PendingState = {
    ...begun(call, access, who),
    ...(tokens ? { tokens: await current(parts, call, tokens) } : {}),
  };
  return establish(parts, call, process, { consents, password: who?.password });
}

/** The token alone (section 13.1): a consent asked for without one is refused with a link to the server that gives it. */
export async function preAuthorise(parts: AuthoriseParts, call: Call, access: PreAuthorisationAccess): Promise<Step> {
  const { institution, api, map, now } = parts;
  const { oauthPreStep, ...settings } = institution.settings;
  if (!oauthPreStep) throw new TypeError('The institution has no pre-step');
  const { backchannel } = oauthPreStep;
  if (backchannel)
    return askDevice(parts, call, begun(call, access), { ...backchannel, scope: oauthPreStep[access.scope] });
  const probe = { state: access.state, redirectUri: access.redirectUri, featureScope: [] };
  const consents = map.toConsents(probe, { today: now(), maxConsentDays: institution.maxConsentDays, settings });
  const process = begun(call, access);
  const refusal = await api.createConsent(senderFor(call, process), consents, wishes(parts, process)).then(
    () => undefined,
    (fault: unknown) => fault,
  );
  const metadataUrl = preStepOf(refusal);
  if (metadataUrl) return askToken(parts, call, process, { metadataUrl, scope: oauthPreStep[access.scope] });
  throw refusal ?? new InstitutionError('malformed', 'The institution took a consent without the token it wants');
}

async function askDevice(
  { oauth }: AuthoriseParts,
  call: Call,
  process: PendingState,
  asked: { metadataUrl: string; scope: string },
): Promise<Step> {
  const { id: loginHint } = process.psu;
  if (loginHint === undefined) throw new TypeError('The institution has to be told whose device to ask');
  const waiting: PendingState = { ...process, backchannel: await oauth.askDevice(call, { ...asked, loginHint }) };
  return notYet(waiting);
}

/** What the token endpoint says while the PSU has not answered, and when they never will (CIBA 1.0, section 11). */
const deviceAnswers: Readonly<Record<string, 'waiting' | 'refused' | undefined>> = {
  authorization_pending: 'waiting',
  slow_down: 'waiting',
  access_denied: 'refused',
  expired_token: 'refused',
};

async function lookAtDevice(
  { oauth }: AuthoriseParts,
  call: Call,
  { process, backchannel }: { process: PendingState; backchannel: BackchannelRequest },
): Promise<Step> {
  try {
    const { backchannel: _answered, ...known } = process;
    return { kind: 'authorised', grant: grantOf({ ...known, tokens: await oauth.deviceTokens(call, backchannel) }) };
  } catch (fault) {
    const said = fault instanceof InstitutionError && fault.code ? deviceAnswers[fault.code] : undefined;
    if (said === 'waiting') return notYet(process);
    if (said === 'refused') return { kind: 'rejected', reason: 'The user did not confirm who they are' };
    throw fault;
  }
}

function begun(
  call: Call,
  { state, redirectUri }: { state: string; redirectUri: string },
  who?: UserCredentials,
): PendingState {
  const id = who?.id ?? call.psu.id;
  const corporateId = who?.corporateId ?? call.psu.corporateId;
  const psu = { ...(id ? { id } : {}), ...(corporateId ? { corporateId } : {}) };
  return { state, redirectUri, psu, isEmbedded: who !== undefined, consentId: '' };
}

/** A token from an earlier step may have died meanwhile. */
async function current({ oauth, now }: AuthoriseParts, call: Call, tokens: Tokens): Promise<Tokens> {
  const { accessTokenExpiresAt, refreshToken, metadataUrl } = tokens;
  if (accessTokenExpiresAt > now().getTime() || !refreshToken) return tokens;
  return oauth.refresh(call, { metadataUrl, refreshToken });
}

async function establish(
  parts: AuthoriseParts,
  call: Call,
  process: PendingState,
  asked: { consents: Consents; password?: string | undefined },
): Promise<Step> {
  const { api, institution } = parts;
  try {
    const answer = await api.createConsent(senderFor(call, process), asked.consents, wishes(parts, process));
    const consentId = textOf(answer.consentId, 'consentId');
    return await advance(parts, call, { ...process, consentId }, { answer, password: asked.password });
  } catch (fault) {
    const metadataUrl = process.tokens ? undefined : preStepOf(fault);
    const scope = institution.settings.oauthPreStep?.AIS;
    if (!metadataUrl || !scope) throw fault;
    return askToken(parts, call, { ...process, consents: asked.consents }, { metadataUrl, scope });
  }
}

function preStepOf(fault: unknown): string | undefined {
  return fault instanceof LinkedError && fault.httpStatus === 401 ? fault.links['scaOAuth']?.href : undefined;
}

/** One step on: the PSU came back, chose a method, typed a code, or we look again. */
export async function proceed(parts: AuthoriseParts, call: Call, pending: Grant, answer: Answer): Promise<Step> {
  const process = pending.state as PendingState | null;
  if (!process?.state || !process.redirectUri) throw unreadable('pending authorisation');
  if ('callback' in answer) return comeBack(parts, call, process, answer.callback);
  if ('poll' in answer) return look(parts, call, process);
  if (!process.target) throw new TypeError('The authorisation waits for no choice and no code');
  const chosen = 'method' in answer ? answer.method : undefined;
  const body = chosen
    ? { authenticationMethodId: chosen.id }
    : { scaAuthenticationData: 'code' in answer ? answer.code : '' };
  const { method, href } = process.target;
  // A wrong code is the bank's refusal; what is pending stays as it is, for another try.
  const next = await parts.api.authorisation(senderFor(call, process), { method, url: parts.api.address(href), body });
  return advance(parts, call, chosen ? { ...process, chosen } : process, { answer: next });
}

async function comeBack(
  parts: AuthoriseParts,
  call: Call,
  process: PendingState,
  callback: URLSearchParams,
): Promise<Step> {
  if (callback.get('state') !== process.state) {
    throw new InstitutionError('malformed', "The institution's answer failed its checks: state", { code: 'state' });
  }
  const { sentTo: _there, oauth: request, ...back } = process;
  if (request) return withToken(parts, call, back, { request, callback });
  const code = callback.get('confirmationCode') ?? callback.get('code');
  if (back.confirmation && code) await confirm(parts, call, back, { confirmationCode: code });
  const step = await look(parts, call, back);
  const error = callback.get('error');
  if (error === null || (step.kind !== 'decoupled' && step.kind !== 'redirect')) return step;
  return { kind: 'rejected', reason: mask(callback.get('error_description') ?? error) };
}

/** Faults of the server itself on the redirect (RFC 6749, 4.1.2.1); most other errors there are the PSU's refusal. */
const serverFaults: Readonly<Record<string, 'unavailable' | 'rejected' | undefined>> = {
  server_error: 'unavailable',
  temporarily_unavailable: 'unavailable',
  invalid_request: 'rejected',
  invalid_scope: 'rejected',
  unauthorized_client: 'rejected',
  unsupported_response_type: 'rejected',
};

async function withToken(
  parts: AuthoriseParts,
  call: Call,
  process: PendingState,
  { request, callback }: { request: OAuthRequest; callback: URLSearchParams },
): Promise<Step> {
  try {
    const { consents, ...known } = { ...process, tokens: await parts.oauth.exchange(call, request, callback) };
    if (consents) return await establish(parts, call, known, { consents });
    if (known.consentId === '') return { kind: 'authorised', grant: grantOf(known) };
    if (known.confirmation) await confirm(parts, call, known, {});
    return await look(parts, call, known);
  } catch (fault) {
    if (!(fault instanceof client.AuthorizationResponseError)) throw fault;
    const { error, error_description: description } = fault;
    const kind = serverFaults[error];
    if (kind) throw new InstitutionError(kind, description ?? error, { code: error });
    return { kind: 'rejected', reason: mask(description ?? error) };
  }
}

async function confirm({ api }: AuthoriseParts, call: Call, process: PendingState, body: object): Promise<void> {
  const url = api.address(process.confirmation ?? '');
  await api.authorisation(senderFor(call, process), { method: 'PUT', url, body });
}

/** Asks how the authorisation stands, then the consent. A bank that is down while the PSU is there says: not yet (quirk Q29). */
async function look(parts: AuthoriseParts, call: Call, process: PendingState): Promise<Step> {
  const { backchannel } = process;
  if (backchannel) return lookAtDevice(parts, call, { process, backchannel });
  // While a token is waited for, only the browser can bring what it takes.
  if (process.oauth) return notYet(process);
  try {
    if (process.scaStatus) {
      const answer = await parts.api.scaStatus(senderFor(call, process), parts.api.address(process.scaStatus));
      if (answer.scaStatus === 'failed') {
        return { kind: 'rejected', reason: mask(answer.psuMessage ?? 'The authorisation failed') };
      }
    }
    return await settle(parts, call, process);
  } catch (fault) {
    if (fault instanceof InstitutionError && fault.kind === 'unavailable') return notYet(process);
    throw fault;
  }
}
