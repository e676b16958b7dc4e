import { createHash } from 'node:crypto';
import { Agent, fetch as undiciFetch, request, type Dispatcher } from 'undici';
import { decoded } from './content-coding.js';
import { InstitutionError, type InstitutionErrorKind } from './institution-error.js';
import { Turns } from './turns.js';

/** One exchange with a bank, for logs and metrics. Never a body, a header, a query or an identifier. */
export interface Exchange {
  institutionId: string;
  method: string;
  /** The path with its identifiers replaced by names, such as `/aisp/accounts/{AccountId}/balances`. */
  template: string;
  /** Absent when no answer came. */
  status?: number;
  ms: number;
  tracingId: string;
  failure?: InstitutionErrorKind;
}

/** A client certificate for mutual TLS, all PEM. `ca` is who signed the bank's certificate; absent: the usual roots. */
export interface Transport {
  certificate: string;
  key: string;
  ca?: string | undefined;
}

export interface BankRequest {
  institutionId: string;
  method: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH';
  url: URL;
  template: string;
  headers?: Record<string, string>;
  /** Sent as they are: a signature covers these very bytes. */
  body?: Buffer;
  signal: AbortSignal;
  tracingId: string;
  /** Who we are on the connection. Absent: nobody in particular. */
  transport?: Transport | undefined;
  /** How long the whole exchange may take, body included. */
  deadlineMs?: number;
}

export interface BankResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

export interface BankHttpOptions {
  report: (exchange: Exchange) => void;
  /** Default for the whole exchange. */
  deadlineMs?: number;
  /** The longest body that is read. */
  bodyBytesMax?: number;
  /** Connections kept to one institution. */
  connections?: number;
}

type FetchInit = Parameters<typeof undiciFetch>[1];

/** To a tenth of a millisecond: more digits would only be noise, and look like somebody's account number. */
function msSince(began: number): number {
  return Math.round((performance.now() - began) * 10) / 10;
}

/**
 * The only way to a bank: a deadline on every exchange, redirects never followed, bodies bounded, a GET repeated once
 * when the connection was cut, anything else never. Throws InstitutionError; an aborted caller sees its own reason.
 * One pool of connections per institution and certificate: a slow bank holds up only itself, and no connection made
 * under one certificate carries a call under another.
 */
export class BankHttp {
  readonly #agents = new Map<string, Agent>();
  readonly #turns = new Turns();
  readonly #report: (exchange: Exchange) => void;
  readonly #deadlineMs: number;
  readonly #bodyBytesMax: number;
  readonly #connections: number;

  constructor(options: BankHttpOptions) {
    this.#report = (exchange) => options.report(exchange);
    this.#deadlineMs = options.deadlineMs ?? 20_000;
    this.#bodyBytesMax = options.bodyBytesMax ?? 16 * 1024 * 1024;
    this.#connections = options.connections ?? 32;
  }

  /** Sends and reads the whole answer, whatever its status. */
  async send(call: BankRequest): Promise<BankResponse> {
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(call.deadlineMs ?? this.#deadlineMs)]);
    const answer = await this.#timed(call, async () => {
      try {
        return await this.#once(call, signal);
      } catch (fault) {
        if (call.method !== 'GET' || !isCut(fault) || signal.aborted) throw fault;
        return this.#once(call, signal);
      }
    });
    await this.#turns.next();
    return answer;
  }

  /** `fetch` for openid-client, through the same pool, deadline and report. undici's own, since Node's refuses our Agent. */
  fetcher(call: Pick<BankRequest, 'institutionId' | 'signal' | 'tracingId' | 'transport' | 'deadlineMs'>) {
    return async (url: string, init: FetchInit & { method?: string }): Promise<Response> => {
      const method = init.method === 'POST' ? 'POST' : 'GET';
      const deadline = AbortSignal.timeout(call.deadlineMs ?? this.#deadlineMs);
      const signal = AbortSignal.any([call.signal, deadline, ...(init.signal ? [init.signal] : [])]);
      const exchange = { ...call, method, template: new URL(url).pathname } as const;
      const headers = new Headers(init.headers);
      headers.set('x-fapi-interaction-id', toUuid(call.tracingId));
      return this.#timed(exchange, async () => {
        const plain = Object.fromEntries(headers.entries());
        const options = {
          ...init,
          headers: plain,
          redirect: 'manual',
          signal,
          dispatcher: this.#agent(call),
        } as const;
        const response = await undiciFetch(url, options);
        const body = await this.#read(response.body ?? []);
        const empty = response.status === 204 || response.status === 304;
        return new Response(empty ? null : new Uint8Array(body), {
          status: response.status,
          headers: Object.fromEntries(response.headers.entries()),
        });
      });
    };
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
    this.#agents.clear();
  }

  async #once(call: BankRequest, signal: AbortSignal): Promise<BankResponse> {
    const { statusCode, headers, body } = await request(call.url, {
      dispatcher: this.#agent(call),
      method: call.method,
      headers: { ...call.headers, 'x-fapi-interaction-id': toUuid(call.tracingId) },
      body: call.body ?? null,
      signal,
    });
    const coding = headers['content-encoding'];
    const read = await decoded(await this.#read(body), { coding, bytesMax: this.#bodyBytesMax });
    return { status: statusCode, headers, body: read };
  }

  async #read(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.byteLength;
      if (bytes > this.#bodyBytesMax)
        throw new InstitutionError('malformed', 'The answer of the institution is too long');
      parts.push(chunk);
    }
    return Buffer.concat(parts, bytes);
  }

  async #timed<T extends { status: number }>(
    call: Pick<BankRequest, 'institutionId' | 'method' | 'template' | 'tracingId' | 'signal'>,
    work: () => Promise<T>,
  ): Promise<T> {
    const { institutionId, method, template, tracingId } = call;
    const began = performance.now();
    const exchange = { institutionId, method, template, tracingId };
    try {
      const answer = await work();
      this.#report({ ...exchange, status: answer.status, ms: msSince(began) });
      return answer;
    } catch (fault) {
      const failure = call.signal.aborted ? undefined : toInstitutionError(fault);
      this.#report({ ...exchange, ms: msSince(began), ...(failure ? { failure: failure.kind } : {}) });
      throw failure ?? call.signal.reason;
    }
  }

  #agent({ institutionId, transport }: Pick<BankRequest, 'institutionId' | 'transport'>): Dispatcher {
    const name = transport ? `${institutionId} ${nameOf(transport)}` : institutionId;
    let agent = this.#agents.get(name);
    if (!agent) {
      agent = new Agent({
        connections: this.#connections,
        pipelining: 1,
        headersTimeout: this.#deadlineMs,
        bodyTimeout: this.#deadlineMs,
        connect: { timeout: Math.min(5000, this.#deadlineMs), ...secured(transport) },
      });
      this.#agents.set(name, agent);
    }
    return agent;
  }
}

function secured(transport: Transport | undefined) {
  if (!transport) return {};
  const { certificate: cert, key, ca } = transport;
  return { cert, key, ...(ca ? { ca } : {}) };
}

const names = new WeakMap<Transport, string>();

/** The same certificate under the same roots is the same pool, whichever object brought it. */
function nameOf(transport: Transport): string {
  let name = names.get(transport);
  if (name === undefined) {
    const { certificate, ca = '' } = transport;
    name = createHash('sha256').update(`${certificate}\n${ca}`).digest('hex');
    names.set(transport, name);
  }
  return name;
}

/** Why an answer with an HTTP status is a failure. Only called for statuses of 300 and above. */
export function kindOf(status: number): InstitutionErrorKind {
  if (status === 401) return 'unauthorised';
  if (status === 404) return 'not-found';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 429) return 'rate-limited';
  if (status >= 500) return 'unavailable';
  return status >= 400 ? 'rejected' : 'malformed';
}

/** The wait a `Retry-After` header asks for, in milliseconds: seconds or a date. Nothing sensible gives undefined. */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  if (/^[+-]?[\d.]+$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}

/** Our tracing id of 32 hex characters in the UUID form that `x-fapi-interaction-id` must have. */
export function toUuid(tracingId: string): string {
  return tracingId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const CUT = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

function isCut(fault: unknown): boolean {
  return codesOf(fault).some((code) => CUT.has(code));
}

function codesOf(fault: unknown): string[] {
  if (!(fault instanceof Error)) return [];
  const code = 'code' in fault && typeof fault.code === 'string' ? [fault.code] : [];
  return [...code, fault.name, ...codesOf(fault.cause)];
}

/** The fault as ours. Its cause is left behind: it can hold addresses with identifiers in them. */
function toInstitutionError(fault: unknown): InstitutionError {
  if (fault instanceof InstitutionError) return fault;
  const late = codesOf(fault).some(
    (code) => code.includes('TIMEOUT') || code === 'TimeoutError' || code === 'AbortError',
  );
  return late
    ? new InstitutionError('timeout', 'The institution did not answer in time')
    : new InstitutionError('unavailable', 'The institution could not be reached');
}
