import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths } from './generated/merchant-api.js';
import { MerchantApiError, problemIn } from './merchant-api-error.js';

/** One typed call for each operation of the merchants' API, by method and path. */
export type MerchantClient = Client<paths>;

export interface MerchantClientOptions {
  /** Where the BFF is reached, without a slash at the end. */
  baseUrl: string;
  /** An API key, a session's token, or what gives the present one: a frontend renews its token now and then. */
  token: string | (() => string | Promise<string>);
  /** With an API key: which of the merchant's customers is meant. */
  customerId?: string;
  /** Of one call, its answer included. */
  timeoutMs?: number;
  fetch?: (request: Request) => Promise<Response>;
}

const reading = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * A client of the merchants' API, for a backend as well as for a browser. Every write carries an `Idempotency-Key`, the
 * caller's or a fresh one.
 */
export function createMerchantClient(options: MerchantClientOptions): MerchantClient {
  const { baseUrl, fetch: send } = options;
  const client = createClient<paths>({ baseUrl, ...(send ? { fetch: send } : {}) });
  client.use(signing(options));
  return client;
}

function signing({ token, customerId, timeoutMs = 60_000 }: MerchantClientOptions): Middleware {
  return {
    async onRequest({ request }) {
      const bearer = typeof token === 'string' ? token : await token();
      request.headers.set('authorization', `Bearer ${bearer}`);
      if (customerId !== undefined && !request.headers.has('customer-id')) {
        request.headers.set('customer-id', customerId);
      }
      if (!reading.has(request.method) && !request.headers.has('idempotency-key')) {
        request.headers.set('idempotency-key', crypto.randomUUID());
      }
      return new Request(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]) });
    },
  };
}

/**
 * The body of an answer that is a success.
 * @throws MerchantApiError with the problem details of every other
 */
export async function answerOf<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok || data === undefined) throw new MerchantApiError(response.status, problemIn(error));
  return data;
}
