import type { ScaMethod } from '#libs/contract';
import type { Call, Grant, Institution, PsuHeaders, Step } from '../connector.js';
import { InstitutionError, mask } from '../institution-error.js';
import { withinChain } from '../refresh-chain.js';
import { unreadable } from '../wire.js';
import type { GrantState } from './berlin-group.access.js';
import type { BerlinGroupApi, Sender } from './berlin-group.api.js';
import type { BackchannelRequest, OAuth, OAuthRequest, Tokens } from './berlin-group.openid.js';
import type { BerlinGroupQuirks, Consents, ScaProcess } from './berlin-group.types.js';
import { nextMove, toChallenge, toScaMethod, type Move, type Target } from './sca.js';
import { notYet, outcome } from './sca-outcome.js';

/** Exchanges that may follow one answer of the PSU; a bank that wants more leads us in a circle. */
const TURNS_MAX = 8;

export interface AuthoriseParts {
  institution: Institution<'berlin-group'>;
  api: BerlinGroupApi;
  oauth: OAuth;
  map: BerlinGroupQuirks;
  now: () => Date;
}

/** What is remembered between the steps of one authorisation. */
export interface PendingState {
  state: string;
  redirectUri: string;
  psu: Pick<PsuHeaders, 'id' | 'corporateId'>;
  isEmbedded: boolean;
  /** Empty while there is only a token to be had. */
  consentId: string;
  tokens?: Tokens;
  scaStatus?: string;
  confirmation?: string;
  /** Where the PSU's choice or code goes. */
  target?: Target;
  chosen?: ScaMethod;
  message?: string;
  /** Where the PSU was sent, until the PSU is back. */
  sentTo?: string;
  oauth?: OAuthRequest;
  /** Waits for the token that the PSU gives on another device. */
  backchannel?: BackchannelRequest;
  /** What to ask for once the token is there; absent when the token is all that is wanted, or belongs to the consent. */
  consents?: Consents;
}

/** Section 5: the links say what comes next. Goes on until the PSU has to act, or it is over. */
export async function advance(
  parts: AuthoriseParts,
  call: Call,
  process: PendingState,
  given: { answer: ScaProcess; password?: string | undefined },
): Promise<Step> {
  let { answer } = given;
  let known = process;
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    known = remember(known, answer);
    const move = nextMove(answer, known);
    const stop = await halt(parts, call, known, { move, answer });
    if (stop) return stop;
    const { target, body } = bodyOf(move, given.password);
    answer = await parts.api.authorisation(senderFor(call, known), {
      method: target.method,
      url: parts.api.address(target.href),
      body,
      headers: wishes(parts, known),
    });
  }
  throw new InstitutionError('malformed', "The institution's authorisation leads in a circle");
}

function remember(process: PendingState, answer: ScaProcess): PendingState {
  const { target: _done, chosen: _before, ...kept } = process;
  const scaStatus = answer._links?.['scaStatus']?.href;
  const confirmation = answer._links?.['confirmation']?.href;
  return {
    ...kept,
    ...(scaStatus ? { scaStatus } : {}),
    ...(confirmation ? { confirmation } : {}),
    ...(answer.psuMessage ? { message: answer.psuMessage } : {}),
  };
}

/** The step that a move ends in, or undefined when we can go on by ourselves. */
async function halt(
  parts: AuthoriseParts,
  call: Call,
  process: PendingState,
  { move, answer }: { move: Move; answer: ScaProcess },
): Promise<Step | undefined> {
  switch (move.kind) {
    case 'failed':
      return { kind: 'rejected', reason: mask(answer.psuMessage ?? 'The authorisation failed') };
    case 'done':
      return settle(parts, call, process);
    case 'redirect':
      return { kind: 'redirect', url: pageOf(parts, move.href), pending: pendingOf({ ...process, sentTo: move.href }) };
    case 'oauth':
      return askToken(parts, call, process, { metadataUrl: move.href, scope: `AIS:${process.consentId}` });
    case 'choose': {
      const methods = move.methods.map((each) => toScaMethod(each)).filter((each) => each !== undefined);
      if (methods.length === 0) throw unreadable('scaMethods');
      if (methods.length === 1) return undefined;
      return { kind: 'choose-method', methods, pending: pendingOf({ ...process, target: move.target }) };
    }
    case 'code': {
      const chosen = toChallenge(answer.chosenScaMethod, answer.challengeData) ?? process.chosen;
      const pending = pendingOf({ ...process, target: move.target, ...(chosen ? { chosen } : {}) });
      return { kind: 'enter-code', ...(chosen ? { method: chosen } : {}), pending };
    }
    case 'wait':
      return notYet(process);
    case 'lost':
      throw new InstitutionError('malformed', 'The institution does not say how the authorisation goes on');
    default:
      return undefined;
  }
}

/** What a link that we can serve by ourselves wants to be told. */
function bodyOf(move: Move, password: string | undefined): { target: Target; body: object } {
  if (move.kind === 'start' || move.kind === 'identify') return { target: move.target, body: {} };
  if (move.kind === 'choose') {
    return { target: move.target, body: { authenticationMethodId: move.methods[0]?.authenticationMethodId } };
  }
  if (move.kind === 'authenticate' && password !== undefined) {
    const psuData = move.isAdditional ? { additionalPassword: password } : { password };
    return { target: move.target, body: { psuData } };
  }
  const wanted = move.kind === 'encrypted-only' ? 'an encrypted password' : 'the password of the user';
  throw new InstitutionError('rejected', `The institution asks for ${wanted}`);
}

/** A page for a browser. Only a sandbox has plain http. */
function pageOf({ institution }: AuthoriseParts, href: string): string {
  const url = URL.canParse(href, institution.baseUrl) ? new URL(href, institution.baseUrl) : undefined;
  const isPlain = institution.environmentType === 'SANDBOX' && url?.protocol === 'http:';
  if (url?.protocol !== 'https:' && !isPlain) throw unreadable('scaRedirect');
  return url?.href ?? href;
}

export async function askToken(
  { oauth }: AuthoriseParts,
  call: Call,
  process: PendingState,
  { metadataUrl, scope }: { metadataUrl: string; scope: string },
): Promise<Step> {
  const { state, redirectUri } = process;
  const { url, request } = await oauth.begin(call, { metadataUrl, scope, state, redirectUri });
  return { kind: 'redirect', url, pending: pendingOf({ ...process, oauth: request, sentTo: url }) };
}

export async function settle(parts: AuthoriseParts, call: Call, process: PendingState): Promise<Step> {
  const { api } = parts;
  const sender = senderFor(call, process);
  const { consentStatus, psuMessage } = await api.consentStatus(sender, api.consentUrl(process.consentId, '/status'));
  const step = outcome(consentStatus, { process, message: psuMessage });
  if (step !== 'valid') return step;
  // The bank's last day counts, not ours: some shorten what was asked (quirk Q24).
  const { validUntil } = await api.consent(sender, api.consentUrl(process.consentId));
  const grant = grantOf(process, validUntil);
  return { kind: 'authorised', grant: process.tokens ? withinChain(grant, parts.institution, parts.now()) : grant };
}

/** `validUntil` is inclusive: the consent lives until its day is over. */
export function grantOf({ consentId, tokens }: PendingState, validUntil?: string): Grant {
  const state: GrantState = { protocol: 'berlin-group', ...(tokens ? { tokens } : {}) };
  const isDay = validUntil !== undefined && /^\d{4}-\d\d-\d\d$/.test(validUntil);
  const expiresAt = isDay ? new Date(`${validUntil}T23:59:59Z`) : undefined;
  return { institutionConsentId: consentId, state, ...(expiresAt ? { expiresAt } : {}) };
}

function pendingOf(process: PendingState): Grant {
  return { institutionConsentId: process.consentId, state: process };
}

export function senderFor(call: Call, { psu, tokens }: PendingState): Sender {
  return { ...call, psu: { ...psu, ...call.psu }, ...(tokens ? { token: tokens.accessToken } : {}) };
}

/** Section 5.1: which approach we would like, and where the PSU comes back to. Our state is in the address. */
export function wishes(
  { institution }: AuthoriseParts,
  { state, redirectUri, isEmbedded }: PendingState,
): Record<string, string> {
  const { scaApproach } = institution.settings;
  const back = new URL(redirectUri);
  back.searchParams.set('state', state);
  const refused = new URL(back);
  refused.searchParams.set('error', 'access_denied');
  return {
    'tpp-redirect-preferred': String(!isEmbedded && scaApproach === 'redirect'),
    'tpp-decoupled-preferred': String(scaApproach === 'decoupled'),
    'tpp-redirect-uri': back.href,
    'tpp-nok-redirect-uri': refused.href,
  };
}
