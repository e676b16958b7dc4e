import type { ScaMethod } from '#libs/contract';
import type { AuthenticationObject, ChallengeData, Links, ScaProcess } from './berlin-group.types.js';

/** Section 5: what to do next follows from the links of the last answer and nothing else. Pure. */

/** A link that takes data, and how it is sent there: starting an authorisation is a POST, going on with it a PUT. */
export interface Target {
  method: 'POST' | 'PUT';
  href: string;
}

export type Move =
  | { kind: 'failed' }
  | { kind: 'done' }
  | { kind: 'redirect'; href: string }
  | { kind: 'oauth'; href: string }
  | { kind: 'identify'; target: Target }
  | { kind: 'authenticate'; target: Target; isAdditional: boolean }
  | { kind: 'encrypted-only' }
  | { kind: 'start'; target: Target }
  | { kind: 'choose'; target: Target; methods: AuthenticationObject[] }
  | { kind: 'code'; target: Target }
  | { kind: 'wait' }
  | { kind: 'lost' };

/** The links that ask for one thing, in the order we prefer them. */
const identification = ['startAuthorisationWithPsuIdentification', 'updatePsuIdentification'];
const authentication = ['startAuthorisationWithPsuAuthentication', 'updatePsuAuthentication'];
const additional = ['updateAdditionalPsuAuthentication'];
const encrypted = [
  'startAuthorisationWithEncryptedPsuAuthentication',
  'updateEncryptedPsuAuthentication',
  'updateAdditionalEncryptedPsuAuthentication',
];
const selection = ['startAuthorisationWithAuthenticationMethodSelection', 'selectAuthenticationMethod'];
const transaction = ['startAuthorisationWithTransactionAuthorisation', 'authoriseTransaction'];

/** `isEmbedded`: the PSU has given us credentials, so their links come before a redirect; otherwise after it. */
export function nextMove(answer: ScaProcess, { isEmbedded }: { isEmbedded: boolean }): Move {
  const links = answer._links ?? {};
  if (answer.scaStatus === 'failed') return { kind: 'failed' };
  if (answer.scaStatus === 'finalised' || answer.scaStatus === 'exempted') return { kind: 'done' };
  return (
    (isEmbedded ? undefined : redirection(links)) ??
    withCredentials(links) ??
    withMethod(answer, links) ??
    started(links) ??
    redirection(links) ??
    waiting(answer, links)
  );
}

function redirection(links: Links): Move | undefined {
  const redirect = links['scaRedirect']?.href;
  if (redirect) return { kind: 'redirect', href: redirect };
  const oauth = links['scaOAuth']?.href;
  return oauth ? { kind: 'oauth', href: oauth } : undefined;
}

function withCredentials(links: Links): Move | undefined {
  const password = find(links, authentication);
  if (password) return { kind: 'authenticate', target: password, isAdditional: false };
  const second = find(links, additional);
  if (second) return { kind: 'authenticate', target: second, isAdditional: true };
  const person = find(links, identification);
  if (person) return { kind: 'identify', target: person };
  return find(links, encrypted) ? { kind: 'encrypted-only' } : undefined;
}

/** A code may be asked for at once, or after a choice; a bank that shows both has chosen already (quirk Q29). */
function withMethod(answer: ScaProcess, links: Links): Move | undefined {
  const code = find(links, transaction);
  if (code) return { kind: 'code', target: code };
  const choice = find(links, selection);
  return choice ? { kind: 'choose', target: choice, methods: answer.scaMethods ?? [] } : undefined;
}

function started(links: Links): Move | undefined {
  const start = find(links, ['startAuthorisation']);
  return start && { kind: 'start', target: start };
}

function waiting(answer: ScaProcess, links: Links): Move {
  if (answer.consentStatus === 'valid') return { kind: 'done' };
  return answer.scaStatus !== undefined || links['scaStatus']?.href ? { kind: 'wait' } : { kind: 'lost' };
}

function find(links: Links, names: readonly string[]): Target | undefined {
  for (const name of names) {
    const href = links[name]?.href;
    if (href) return { method: name.startsWith('start') ? 'POST' : 'PUT', href };
  }
  return undefined;
}

const types: Readonly<Record<string, ScaMethod['type']>> = {
  SMS_OTP: 'SMS_OTP',
  CHIP_OTP: 'CHIP_OTP',
  PHOTO_OTP: 'PHOTO_OTP',
  PUSH_OTP: 'PUSH_OTP',
};

/** One way of authenticating, as the PSU is shown it. Types the contract does not list are left out: the list is open. */
export function toScaMethod(raw: AuthenticationObject): ScaMethod | undefined {
  const { authenticationMethodId: id, authenticationType, name, explanation, authenticationVersion } = raw;
  if (!id) return undefined;
  const type = types[authenticationType ?? ''];
  const description = [name, explanation].filter(Boolean).join(': ') || authenticationVersion;
  return {
    id,
    ...(type ? { type } : {}),
    ...(description ? { description } : {}),
  };
}

/** The chosen way with what the PSU must see to answer: the bank's text, and data, image or a link to one. */
export function toChallenge(
  raw: AuthenticationObject | undefined,
  challenge: ChallengeData | undefined,
): ScaMethod | undefined {
  const method = raw && toScaMethod(raw);
  if (!method) return undefined;
  const { data, image, imageLink, additionalInformation } = challenge ?? {};
  const shown = [data ?? [], image ?? [], imageLink ?? []].flat();
  return {
    ...method,
    ...(additionalInformation ? { information: additionalInformation } : {}),
    ...(shown.length > 0 ? { data: shown } : {}),
  };
}
