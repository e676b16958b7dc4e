import { Agent, type Dispatcher } from 'undici';
import { header, writePsuHeaders, type Envelope, type PsuHeaders } from '#libs/contract';
import { ClientError } from './client-error.js';
import type { ClientOptions } from './client-options.js';
import { DownloadedFile, perform, type Call } from './http-call.js';

type Query = Record<string, string | number | boolean | Date | string[] | undefined>;

export interface Parts {
  query?: Query;
  body?: unknown;
  consent?: string;
  psu?: PsuHeaders | undefined;
  contentType?: string;
}

/** An answer is far smaller; a larger one is a fault that must not fill the memory. */
const answerSizeMax = 64 * 1024 * 1024;

/** Turns an operation into a call with credentials, headers and a deadline, and checks the outline of its answer. */
export class Caller {
  private readonly dispatcher: Dispatcher;
  private readonly authorization: string;

  constructor(
    private readonly options: ClientOptions,
    private readonly subApplicationId?: string,
  ) {
    this.dispatcher = options.dispatcher ?? new Agent({ maxResponseSize: answerSizeMax });
    const credentials = `${options.applicationId}:${options.applicationSecret}`;
    this.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }

  /** The same connections and credentials on behalf of a sub-application. */
  forSubApplication(id: string): Caller {
    return new Caller({ ...this.options, dispatcher: this.dispatcher }, id);
  }

  async close(): Promise<void> {
    if (!this.options.dispatcher) await this.dispatcher.close();
  }

  /** An envelope around an object. Only its outline is checked: what is inside is the aggregator's promise. */
  async one<T extends { data: object }>(
    operation: string,
    method: Call['method'],
    at: string,
    parts?: Parts,
  ): Promise<T> {
    const answer = await this.call(operation, method, at, parts);
    if (!isObject(answer) || !isObject(answer.data)) throw unexpected(operation);
    return answer as T;
  }

  async list<T>(operation: string, at: string, parts?: Parts): Promise<Envelope<T[]>> {
    const answer = await this.call(operation, 'GET', at, parts);
    if (!isObject(answer) || !Array.isArray(answer.data)) throw unexpected(operation);
    return answer as Record<string, unknown> & Envelope<T[]>;
  }

  async bare<T extends object>(operation: string, method: Call['method'], at: string, parts?: Parts): Promise<T> {
    const answer = await this.call(operation, method, at, parts);
    if (!isObject(answer)) throw unexpected(operation);
    return answer as T;
  }

  /** An answer that is a file, not JSON. */
  async file(operation: string, at: string, parts: Parts): Promise<DownloadedFile> {
    const answer = await perform({ ...this.prepared(operation, 'GET', at, parts), asFile: true });
    if (!(answer instanceof DownloadedFile)) throw unexpected(operation);
    return answer;
  }

  call(operation: string, method: Call['method'], at: string, parts: Parts = {}): Promise<unknown> {
    return perform(this.prepared(operation, method, at, parts));
  }

  private prepared(operation: string, method: Call['method'], at: string, parts: Parts): Call {
    const { timeoutMs = 30_000 } = this.options;
    const { dispatcher } = this;
    const url = addressOf(this.options.baseUrl, at, parts.query ?? {});
    return { operation, method, url, headers: this.headers(parts), body: parts.body, timeoutMs, dispatcher };
  }

  private headers({ body, consent, psu, contentType = 'application/json' }: Parts): Record<string, string> {
    const tracingId = this.options.tracingId?.();
    const { apiVersion } = this.options;
    return {
      accept: 'application/json',
      [header.authorization]: this.authorization,
      ...(body === undefined ? {} : { 'content-type': contentType }),
      ...(consent === undefined ? {} : { [header.consent]: consent }),
      ...(this.subApplicationId === undefined ? {} : { [header.subApplication]: this.subApplicationId }),
      ...(apiVersion === undefined ? {} : { [header.apiVersion]: apiVersion }),
      ...(tracingId === undefined ? {} : { [header.tracingId]: tracingId }),
      ...writePsuHeaders(psu ?? {}),
    };
  }
}

function addressOf(baseUrl: string, at: string, query: Query): URL {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}${at}`);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) {
      url.searchParams.append(name, item instanceof Date ? item.toISOString() : String(item));
    }
  }
  return url;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function unexpected(operation: string): ClientError {
  return new ClientError({
    operation,
    message: 'the answer has not the outline of this operation',
    status: 200,
    retryable: false,
  });
}
