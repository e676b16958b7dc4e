import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Calls } from './calls.js';
import { wallClock, type BankClock } from './clock.js';
import { routeOf, type FaultName, type Scenarios } from './scenarios.js';
import { playOnWire } from './wire-faults.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Paths below a bank that its authorisation server answers; everything else is Fastify's. */
const oidcPath = /^\/(?:\.well-known\/openid-configuration|auth(?:\/[\w-]+)?|token(?:\/revocation)?|jwks|me)$/;

interface FrontOptions {
  url: string;
  scenarios: Scenarios;
  calls: Calls;
  clock: BankClock;
  log?: ((entry: object) => void) | undefined;
  app: FastifyInstance;
}

interface Front {
  handle: (request: IncomingMessage, response: ServerResponse) => void;
  mount: (bank: string, handler: Handler) => void;
  /** The fault that a request runs into and that the wire has not played. */
  faultOf: (request: FastifyRequest) => FaultName | undefined;
}

/** The first thing a request meets: faults on the wire, the record of calls, then the authorisation server or the bank's routes. */
export function createFront({ url, scenarios, calls, clock, log, app }: FrontOptions): Front {
  const servers = new Map<string, Handler>();
  const waiting = new WeakMap<IncomingMessage, FaultName>();
  const { protocol, host } = new URL(url);

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const [, bank, below] = /^\/banks\/([\w-]+)(\/.*)$/.exec(path) ?? [];
    const route = below === undefined ? undefined : routeOf(request.method ?? 'GET', below);
    const fault = bank === undefined ? undefined : scenarios.take(bank, route);
    if (bank !== undefined && route !== undefined) observe({ request, response, bank, route, fault });
    if (fault !== undefined) {
      if (await playOnWire(fault, request, response)) return;
      waiting.set(request, fault);
      if (fault === 'token-500') spoil(response);
    }
    const server = bank !== undefined && below !== undefined && oidcPath.test(below) ? servers.get(bank) : undefined;
    if (!server) {
      app.routing(request, response);
      return;
    }
    toAuthorisationServer(request, `/banks/${bank}`);
    server(request, response);
  };

  /** The provider builds addresses from the request, so the request is given the public name and the provider's own path. */
  const toAuthorisationServer = (request: IncomingMessage, prefix: string): void => {
    const original = request.url ?? '/';
    request.headers.host = host;
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    delete request.headers['x-forwarded-host'];
    Object.assign(request, { originalUrl: original });
    request.url = original.slice(prefix.length);
    // Every authorisation applies SCA anew: the endpoint starts without the browser's earlier session.
    if (/^\/auth\?/.test(request.url)) delete request.headers.cookie;
  };

  const observe = (call: {
    request: IncomingMessage;
    response: ServerResponse;
    bank: string;
    route: string;
    fault: FaultName | undefined;
  }): void => {
    const { request, response, bank, route, fault } = call;
    const startedAt = wallClock();
    const interactionId = request.headers['x-fapi-interaction-id'];
    response.once('close', () => {
      const status = response.writableFinished ? response.statusCode : 0;
      calls.record({
        at: new Date(clock.now()).toISOString(),
        bank,
        route,
        status,
        fault,
        isAttended: request.headers['x-fapi-customer-ip-address'] !== undefined,
        interactionId: typeof interactionId === 'string' ? interactionId : undefined,
      });
      log?.({
        level: status >= 500 ? 'warn' : 'info',
        name: 'sandbox-bank',
        msg: 'call',
        bank,
        route,
        status,
        ms: wallClock() - startedAt,
        fault,
      });
    });
  };

  return {
    handle: (request, response) => {
      serve(request, response).catch((error: unknown) => {
        log?.({
          level: 'error',
          name: 'sandbox-bank',
          msg: 'failed',
          error: error instanceof Error ? error.stack : 'unknown',
        });
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    },
    mount: (bank, handler) => void servers.set(bank, handler),
    faultOf: (request) => waiting.get(request.raw),
  };
}

/** Lets the handler do all its work, then loses its answer: what the caller sees is 500. */
function spoil(response: ServerResponse): void {
  const end = response.end.bind(response);
  const body = JSON.stringify({ error: 'server_error' });
  response.write = () => true;
  response.end = () => {
    if (!response.headersSent)
      response.writeHead(500, {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      });
    return end(body);
  };
}
