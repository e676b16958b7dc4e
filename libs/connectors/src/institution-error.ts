/** Why a bank's answer is no answer. Malformed means that we could not read it; it is never mapped to an empty list. */
export type InstitutionErrorKind =
  | 'rejected'
  | 'unauthorised'
  | 'consent-gone'
  | 'not-found'
  | 'rate-limited'
  | 'unavailable'
  | 'timeout'
  | 'malformed';

export interface InstitutionErrorDetails {
  /** The bank's HTTP status, if it answered at all. */
  httpStatus?: number | undefined;
  /** The bank's own code, such as `U008`. */
  code?: string | undefined;
  /** How long the bank asks us to wait, in milliseconds. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** A bank failed us. `message` is the bank's, or ours where it said nothing, with account numbers and tokens masked. */
export class InstitutionError extends Error {
  override readonly name = 'InstitutionError';
  readonly kind: InstitutionErrorKind;
  readonly httpStatus: number | undefined;
  readonly code: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(kind: InstitutionErrorKind, message: string, details: InstitutionErrorDetails = {}) {
    super(mask(message), details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.httpStatus = details.httpStatus;
    this.code = details.code;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** The codes of OAuth 2.0 for tokens that are dead (RFC 6749, section 5.2; RFC 6750, section 3.1). */
const deadTokens: ReadonlySet<string | undefined> = new Set(['invalid_grant', 'invalid_token']);

/** Whether nothing that is asked under the consent can succeed until its user has authorised it again. */
export function needsUser({ kind, code }: InstitutionError): boolean {
  return kind === 'unauthorised' && deadTokens.has(code);
}

/** A walk over a bank's pages reached its bound. The bank answered well: the caller should ask for a shorter window. */
export class WalkLimitError extends Error {
  override readonly name = 'WalkLimitError';
  readonly bound: 'pages' | 'records' | 'ms';
  readonly limit: number;

  constructor(bound: 'pages' | 'records' | 'ms', limit: number) {
    super(`The institution has more than can be read at once (${limit} ${bound}); ask for a shorter period`);
    this.bound = bound;
    this.limit = limit;
  }
}

const TOKEN = /[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*/g;
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){2,8}\b/g;
const LONG_DIGITS = /\d(?:[ -]?\d){5,}/g;

/** Hides what must never reach a log: tokens, IBANs, sort codes, account and card numbers. At most 500 characters stay. */
export function mask(text: string): string {
  return text.slice(0, 500).replace(TOKEN, '[token]').replace(IBAN, '[iban]').replace(LONG_DIGITS, '[number]');
}
