/** `name=value` texts are appended as they are; a plain `name` passes on the bank's own parameter; an object is appended. */
export type ForwardParameters = readonly string[] | Readonly<Record<string, string>>;

/** How an authorisation ended, as the application's callback learns it. */
export type CallbackOutcome =
  | { kind: 'consent'; consentToken: string }
  | { kind: 'one-time-token'; oneTimeToken: string }
  /** The user has agreed, and others must, or the bank needs a while: there is no token yet. */
  | { kind: 'further' | 'underway' }
  | { kind: 'error'; error: string; source: 'user' | 'institution'; description: string };

/** Whom the outcome is about. */
export interface CallbackSubject {
  applicationUserId?: string | undefined;
  userUuid: string;
  institutionId: string;
}

/**
 * Whether `callback` is one of the registered addresses: the same origin and path, whatever query the caller adds.
 * A registered address that carries a query must be matched to the letter. Fragments and user names are never allowed.
 */
export function isRegisteredCallback(callback: string, registered: readonly string[]): boolean {
  const asked = parseHttpUrl(callback);
  if (asked === undefined || asked.hash !== '' || asked.username !== '' || asked.password !== '') return false;
  return registered.some((entry) => {
    const allowed = parseHttpUrl(entry);
    if (allowed === undefined) return false;
    if (allowed.search !== '') return allowed.href === asked.href;
    return allowed.origin === asked.origin && allowed.pathname === asked.pathname;
  });
}

/** Whether the address would carry a token over plain http. */
export function isPlainHttp(callback: string): boolean {
  return parseHttpUrl(callback)?.protocol === 'http:';
}

/** The address the browser is sent to; what the application put into its callback's query stays in front. */
export function callbackLocation(input: {
  callback: string;
  subject: CallbackSubject;
  outcome: CallbackOutcome;
  forward?: ForwardParameters | undefined;
  fromBank?: URLSearchParams | undefined;
}): string {
  const url = new URL(input.callback);
  const append = (name: string, value: string | undefined): void => {
    if (value !== undefined) url.searchParams.append(name, value);
  };
  const { outcome, subject } = input;
  if (outcome.kind === 'consent') append('consent', outcome.consentToken);
  if (outcome.kind === 'one-time-token') append('one-time-token', outcome.oneTimeToken);
  append('application-user-id', subject.applicationUserId);
  append('user-uuid', subject.userUuid);
  append('institution', subject.institutionId);
  if (outcome.kind === 'error') {
    append('error', outcome.error);
    append('error-source', outcome.source);
    append('error-description', Buffer.from(outcome.description, 'utf8').toString('base64'));
  }
  for (const [name, value] of forwarded(input.forward, input.fromBank)) append(name, value);
  return url.href;
}

/** The client's own redirect address with an OAuth 2.0 answer (RFC 6749, 4.1.2) behind whatever its query held. */
export function redirectLocation(redirectUrl: string, answer: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUrl);
  for (const [name, value] of Object.entries(answer)) url.searchParams.append(name, value);
  return url.href;
}

function* forwarded(
  forward: ForwardParameters | undefined,
  fromBank: URLSearchParams | undefined,
): Generator<[string, string]> {
  if (forward === undefined) return;
  if (!isList(forward)) {
    yield* Object.entries(forward);
    return;
  }
  for (const entry of forward) {
    if (entry.indexOf('=') > 0) {
      yield* new URLSearchParams(entry);
      continue;
    }
    const value = SECRET_PARAMETERS.has(entry) ? null : fromBank?.get(entry);
    if (typeof value === 'string') yield [entry, value];
  }
}

/** What only we may exchange at the bank never travels on to an application. */
const SECRET_PARAMETERS: ReadonlySet<string> = new Set(['code', 'id_token', 'response', 'access_token', 'state']);

function isList(forward: ForwardParameters): forward is readonly string[] {
  return Array.isArray(forward);
}

function parseHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:') ? url : undefined;
}
