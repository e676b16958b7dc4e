/** The parameters a bank may answer with (OAuth 2.0, OpenID Connect hybrid flow, JARM). Others are passed along for `forwardParameters`. */
const KNOWN = ['code', 'id_token', 'state', 'response', 'error', 'error_description', 'iss'] as const;

/** The fields of the form that the lifting page fills from the fragment. */
export const LIFTED_FIELDS: readonly string[] = KNOWN;

const LONGEST_ANSWER = 32_768;

/** The bank's answer as parameters, from a query or a form body. Empty values are what an unfilled form field sends, so they are left out. */
export function answerOf(source: unknown): URLSearchParams {
  const answer = new URLSearchParams();
  if (typeof source !== 'object' || source === null) return answer;
  for (const [name, value] of Object.entries(source)) {
    if (typeof value === 'string' && value !== '' && value.length <= LONGEST_ANSWER) answer.append(name, value);
  }
  return answer;
}

/**
 * Whether this is an answer at all, or a browser whose answer is still in the fragment. A bank without OAuth sends the user
 * back with nothing but our own `state` (NextGenPSD2 1.3, redirect approach).
 */
export function holdsAnswer(answer: URLSearchParams): boolean {
  return ['code', 'response', 'error', 'state'].some((name) => answer.has(name));
}

/**
 * The `state` that says which authorisation is answered. In a JARM answer it is inside the signed response; it is read
 * here only to find the consent, and the connector verifies signature and state before anything is believed.
 */
export function stateOf(answer: URLSearchParams): string | undefined {
  const state = claimOf(answer, 'state');
  return state !== undefined && /^[0-9a-f]{32}$/.test(state) ? state : undefined;
}

/** A parameter of the answer, or the claim of that name in a JARM response. Nothing of it is verified yet. */
export function claimOf(answer: URLSearchParams, name: 'code' | 'error' | 'state'): string | undefined {
  return answer.get(name) ?? claimOfResponse(answer.get('response'), name);
}

function claimOfResponse(response: string | null, name: string): string | undefined {
  const payload = response?.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null) return undefined;
    const value: unknown = Object.entries(claims).find(([claim]) => claim === name)?.[1];
    return typeof value === 'string' ? value : undefined;
  } catch {
    // Not a JWT: the caller answers that nothing was found.
    return undefined;
  }
}
