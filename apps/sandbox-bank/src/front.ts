import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Calls } from './calls.js';
import { wallClock, type BankClock } from './clock.js';
import { routeOf, type FaultName, type Scenarios } from './scenarios.js';
import { playOnWire } from './wire-faults.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Paths below a bank that its authorisation server answers; everything else is Fastify's. */
const oidcPath =
  /^\/(?:\.well-known\/(?:openid-configuration|oauth-authorization-server)|auth(?:\/[\w-]+)?|token(?:\/revocation)?|jwks|me)$/;

interface FrontOptions {
  url: string;
  scenarios: Scenarios;
  calls: Calls;
  clock: BankClock;
  log?: ((entry: object) => void) | undefined;
  app: FastifyInstance;
}

interface Call {
  bank: string;
  route: string;
  fault: FaultName | undefined;
}

/** The first thing a request meets: faults on the wire, the record of calls, then the authorisation server or the bank's routes. */
export class Front {
  readonly #servers = new Map<string, Handler>();
  readonly #waiting = new WeakMap<IncomingMessage, FaultName>();
  readonly #public: URL;

  constructor(private readonly options: FrontOptions) {
    this.#public = new URL(options.url);
  }

  /** Gives a bank its authorisation server. */
  mount(bank: string, handler: Handler): void {
    this.#servers.set(bank, handler);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#serve(request, response).catch((error: unknown) => {
      const stack = error instanceof Error ? error.stack : 'unknown';
      this.options.log?.({ level: 'error', name: 'sandbox-bank', msg: 'failed', error: stack });
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  }

  /** The fault that a request runs into and that the wire has not played. */
  faultOf(request: FastifyRequest): FaultName | undefined {
    return this.#waiting.get(request.raw);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const [, bank, below] = /^\/banks\/([\w-]+)(\/.*)$/.exec(path) ?? [];
    if (bank === undefined || below === undefined) return this.options.app.routing(request, response);
    const route = routeOf(request.method ?? 'GET', below);
    const fault = this.options.scenarios.take(bank, route);
    if (route !== undefined) this.#observe(request, response, { bank, route, fault });
    if (fault !== undefined) {
      if (await playOnWire(fault, request, response)) return;
      this.#waiting.set(request, fault);
      if (fault === 'token-500') spoil(response);
    }
    const server = oidcPath.test(below) ? this.#servers.get(bank) : undefined;
    if (!server) return this.options.app.routing(request, response);
    this.#readdress(request, `/banks/${bank}`);
    server(request, response);
  }

  /** The provider builds addresses from the request, so the request is given the public name and the provider's own path. */
  #readdress(request: IncomingMessage, prefix: string): void {
    const original = request.url ?? '/';
    request.headers.host = this.#public.host;
    request.headers['x-forwarded-proto'] = this.#public.protocol.slice(0, -1);
    delete request.headers['x-forwarded-host'];
    Object.assign(request, { originalUrl: original });
    request.url = original.slice(prefix.length);
    // Every authorisation applies SCA anew: the endpoint starts without the browser's earlier session.
    if (request.url.startsWith('/auth?')) delete request.headers.cookie;
  }

  #observe(request: IncomingMessage, response: ServerResponse, { bank, route, fault }: Call): void {
    const { calls, clock, log } = this.options;
    const startedAt = wallClock();
    const { headers } = request;
    const interactionId = headers['x-fapi-interaction-id'] ?? headers['x-request-id'];
    response.once('close', () => {
      const status = response.writableFinished ? response.statusCode : 0;
      calls.record({
        at: new Date(clock.now()).toISOString(),
        bank,
        route,
        status,
        fault,
        isAttended: (headers['x-fapi-customer-ip-address'] ?? headers['psu-ip-address']) !== undefined,
        interactionId: typeof interactionId === 'string' ? interactionId : undefined,
      });
      const level = status >= 500 ? 'warn' : 'info';
      log?.({ level, name: 'sandbox-bank', msg: 'call', bank, route, status, ms: wallClock() - startedAt, fault });
    });
  }
}

/** Lets the handler do all its work, then loses its answer: what the caller sees is 500. */
function spoil(response: ServerResponse): void {
  const end = response.end.bind(response);
  const body = JSON.stringify({ error: 'server_error' });
  response.write = () => true;
  response.end = () => {
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    if (!response.headersSent) response.writeHead(500, headers);
    return end(body);
  };
}
