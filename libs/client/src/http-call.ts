import { setTimeout as wait } from 'node:timers/promises';
import { request, type Dispatcher } from 'undici';
import { ClientError } from './client-error.js';

export interface Call {
  operation: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  body?: unknown;
  /** For the answer as a whole, a second try included. */
  timeoutMs: number;
  dispatcher: Dispatcher;
  /** A success is a file: its bytes are handed on as they are. */
  asFile?: boolean;
}

/** What an operation answers that is not JSON. */
export class DownloadedFile {
  constructor(
    readonly contentType: string,
    readonly body: Buffer,
  ) {}
}

/** Between a call that failed on the way and its only repetition. */
const pauseMs = 100;
const gatewayFaults = new Set([502, 503, 504]);

/** Faults in which not one byte of the request can have been acted on. */
const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * Makes one call and answers its parsed body; undefined when there is none. Throws ClientError.
 * A GET that fails on the way is made once more; nothing else ever is, because the first try may have had its effect.
 */
export async function perform(call: Call): Promise<unknown> {
  const signal = AbortSignal.timeout(call.timeoutMs);
  try {
    return await attempt(call, signal);
  } catch (error) {
    if (call.method !== 'GET' || !isWorthRepeating(error)) throw error;
  }
  await wait(pauseMs, undefined, { signal }).catch(() => undefined);
  return attempt(call, signal);
}

function isWorthRepeating(error: unknown): boolean {
  if (!(error instanceof ClientError) || error.timedOut) return false;
  return error.status === undefined || gatewayFaults.has(error.status);
}

async function attempt(call: Call, signal: AbortSignal): Promise<unknown> {
  const { operation, method } = call;
  let status: number;
  let headers: Record<string, string | string[] | undefined>;
  let content: Buffer | string;
  try {
    const { url, dispatcher } = call;
    const body = call.body === undefined ? null : JSON.stringify(call.body);
    const answer = await request(url, { method, headers: call.headers, body, signal, dispatcher });
    status = answer.statusCode;
    headers = answer.headers;
    const isFile = call.asFile === true && succeeded(status);
    content = isFile ? Buffer.from(await answer.body.arrayBuffer()) : await answer.body.text();
  } catch (cause) {
    const timedOut = signal.aborted;
    const message = timedOut ? `no answer within ${call.timeoutMs} ms` : `no answer (${codeOf(cause)})`;
    const retryable = method === 'GET' || (!timedOut && neverSent.has(codeOf(cause)));
    throw new ClientError({ operation, message, retryable, timedOut, cause });
  }
  if (typeof content !== 'string') return new DownloadedFile(String(headers['content-type'] ?? ''), content);
  const body = parse(content);
  if (succeeded(status)) {
    if (body === unreadable) {
      throw new ClientError({ operation, message: 'unreadable answer', status, retryable: method === 'GET' });
    }
    return body;
  }
  const retryable = status === 429 || (method === 'GET' && status >= 500);
  const message = `refused with ${status}`;
  const known = body === unreadable ? undefined : body;
  throw new ClientError({
    operation,
    message,
    status,
    body: known,
    retryable,
    retryAfter: secondsToWait(headers),
  });
}

function succeeded(status: number): boolean {
  return status >= 200 && status < 300;
}

const unreadable = Symbol('unreadable');

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return unreadable;
  }
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return 'unknown';
  return typeof error.code === 'string' ? error.code : 'unknown';
}

/** `Retry-After` is a count of seconds, or a date (RFC 9110, section 10.2.3), which only the sender's own clock can judge. */
function secondsToWait(headers: Record<string, string | string[] | undefined>): number | undefined {
  const { 'retry-after': value, date } = headers;
  if (typeof value !== 'string') return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const ms = Date.parse(value) - Date.parse(String(date));
  return ms > 0 ? Math.ceil(ms / 1_000) : undefined;
}
