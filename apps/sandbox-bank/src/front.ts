import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bendAnswer } from './bent-answers.js';
import type { Calls } from './calls.js';
import { certificateOf, type CertificateFault } from './client-certificate.js';
import { wallClock, type BankClock } from './clock.js';
import { routeOf, type FaultName, type Scenarios } from './scenarios.js';
import { playOnWire } from './wire-faults.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Paths below a bank that its authorisation server answers; everything else is Fastify's. */
const oidcPath =
  /^\/(?:\.well-known\/(?:openid-configuration|oauth-authorization-server)|auth(?:\/[\w-]+)?|backchannel|token(?:\/revocation)?|jwks|me)$/;

/** What TPPs alone call, under their certificates. */
const tppPath = /^\/(?:token(?:\/revocation)?|backchannel|me|open-banking\/.*|v1\/.*)$/;
/** A Berlin Group bank refuses in the words of its own framework. */
const berlinGroupPath = /^\/v1\//;

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
    const isForTpps = tppPath.test(below ?? '');
    // Pages, metadata and the remote control are for those who have no certificate.
    if (request.socket instanceof TLSSocket && !isForTpps) return void response.writeHead(404).end();
    if (bank === undefined || below === undefined) return this.options.app.routing(request, response);
    const route = routeOf(request.method ?? 'GET', below);
    const certificate = isForTpps && !berlinGroupPath.test(below) ? certificateOf(request) : undefined;
    const isRefused = typeof certificate === 'string';
    const fault = isRefused ? undefined : this.options.scenarios.take({ bank, route, account: accountIn(below) });
    if (route !== undefined) this.#observe(request, response, { bank, route, fault });
    if (isRefused) return refuse(certificate, below, response);
    if (fault !== undefined) {
      if (await playOnWire(fault, request, response)) return;
      this.#waiting.set(request, fault);
      bendAnswer(fault, response);
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
    const account = /\/accounts\/([^/?]+)/.exec(request.url ?? '')?.[1];
    response.once('close', () => {
      const status = response.writableFinished ? response.statusCode : 0;
      calls.record({
        at: new Date(clock.now()).toISOString(),
        bank,
        route,
        account,
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

/** A token endpoint says so as RFC 6749 wants (section 5.2), a resource as RFC 6750 does (section 3.1). */
function refuse(fault: CertificateFault, path: string, response: ServerResponse): void {
  if (!path.startsWith('/token'))
    return void response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
  const body = { error: 'invalid_client', error_description: `the client certificate is ${fault}` };
  response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function accountIn(path: string): string | undefined {
  return /\/accounts\/([^/]+)/.exec(path)?.[1];
}
