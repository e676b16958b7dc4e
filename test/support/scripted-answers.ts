import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Consent } from '#libs/contract';

/** A call that came in. */
export interface ReceivedCall {
  /** `POST /payments`; ids in the path are replaced by `:id`. */
  route: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}

/** How a route answers instead of working: a status with a body, or no answer at all. */
export interface Failure {
  route: string;
  /** Only calls of this path. */
  path?: string;
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** The call is carried out first, and only then its answer is lost. */
  afterWork?: boolean;
  times?: number;
}

/** A consent and what only the scripted side knows of it. */
export interface ScriptedConsent {
  id: string;
  applicationUserId: string;
  institutionId: string;
  status: string;
  consentToken: string;
  callback: string;
  deleted: boolean;
  /** What it says of its own time, once it is authorised. */
  terms: Partial<Consent>;
}

export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string> | undefined;
}

/** An answer in the envelope. */
export function ok(data: unknown, status = 200): Answer {
  return { status, body: { meta: { tracingId: 'a' }, data } };
}

/** The body of a refusal. */
export function refusal(status: number, parameter?: string): object {
  const issues = [
    { type: 'INVALID_REQUEST', code: 'TEST', message: 'scripted', ...(parameter === undefined ? {} : { parameter }) },
  ];
  return { error: { tracingId: 'a', code: status, status: 'TEST', source: 'YAPILY', issues } };
}

/** A consent as the interface shows it. */
export function shown({
  callback: _callback,
  deleted: _deleted,
  consentToken,
  terms,
  ...consent
}: ScriptedConsent): object {
  const authorizedAt = '2026-01-01T00:00:00.000Z';
  const authorised = consent.status === 'AUTHORIZED' ? { consentToken, authorizedAt, ...terms } : {};
  return { ...consent, userUuid: randomUUID(), createdAt: '2026-01-01T00:00:00.000Z', ...authorised };
}

/** The id in the path. */
export function idOf({ path }: ReceivedCall): string {
  return decodeURIComponent(path.split('/')[2] ?? '');
}

/** The rows of the period that was asked for; those without a date belong to every one. */
export function within<T extends { date?: string }>(rows: readonly T[], query: URLSearchParams): T[] {
  const [from, before] = ['from', 'before'].map((name) => Date.parse(query.get(name) ?? ''));
  return rows.filter(({ date }) => {
    const at = Date.parse(date ?? '');
    return !(at < (from ?? Number.NaN)) && !(at > (before ?? Number.NaN));
  });
}
