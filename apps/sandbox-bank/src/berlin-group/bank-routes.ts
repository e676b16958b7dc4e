import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Visits, type VisitRooms } from '../visits.js';
import { Access } from './access.js';
import { registerAccounts } from './account-routes.js';
import { registerAuthorisations } from './authorisation-routes.js';
import { registerConsents } from './consent-routes.js';
import { ConsentVisits } from './consent-visit.js';
import { headerOf, type BerlinContext } from './context.js';
import { DeviceLogins } from './device-logins.js';
import { registerDevicePage } from './device-page.js';
import { BerlinError, errorBody, refusals } from './error.js';
import { LoginVisits } from './login-visit.js';
import { registerTransactions } from './transactions.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** One Berlin Group bank: its XS2A interface below `/v1`, and the pages on which its PSUs decide. Answers the logins on devices. */
export async function registerBerlinGroupBank(
  app: FastifyInstance,
  context: BerlinContext,
): Promise<DeviceLogins | undefined> {
  const access = new Access(context);
  const logins = registerPages(app, context);
  await app.register(async (scope) => {
    takeJson(scope);
    scope.addHook('onRequest', async (request, reply) => {
      const requestId = headerOf(request, 'x-request-id');
      reply.header('x-request-id', requestId ?? randomUUID());
      reply.header('cache-control', 'no-store');
      if (requestId === undefined) throw refusals.format('X-Request-ID', 'X-Request-ID is missing');
      if (!uuid.test(requestId)) throw refusals.format('X-Request-ID', 'X-Request-ID must be a UUID');
      const { accept } = request.headers;
      if (accept !== undefined && !/application\/(?:json|\*)|\*\/\*/.test(accept)) throw refusals.notAcceptable();
    });
    scope.setErrorHandler((error: unknown, _request, reply) => sendError(error, reply, context));
    registerConsents(scope, context, access);
    registerAuthorisations(scope, context, access);
    registerAccounts(scope, context, access);
    registerTransactions(scope, context, access);
  });
  return logins;
}

function registerPages(app: FastifyInstance, context: BerlinContext): DeviceLogins | undefined {
  const { bank, store, clock, provider } = context;
  const visits = new ConsentVisits(context);
  const opening: VisitRooms['open'] = (request, reply, uid) => visits.open(request, reply, uid);
  new Visits({ bank, store, clock, segment: 'psu', open: opening }).register(app);
  const onDevice = provider && bank.preStep === 'device' ? new DeviceLogins(context, provider) : undefined;
  if (bank.approach === 'decoupled') registerDevicePage(app, context, onDevice);
  if (!provider) return undefined;
  const logins = onDevice ?? new LoginVisits(context, provider);
  const login: VisitRooms['open'] = (request, reply, uid) => logins.open(request, reply, uid);
  new Visits({ bank, store, clock, segment: 'login', open: login }).register(app);
  return onDevice;
}

/** JSON, or nothing: an authorisation may be started with an empty body. */
function takeJson(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: unknown, body: string) => {
    if (body.trim() === '') return undefined;
    try {
      return JSON.parse(body) as unknown;
    } catch {
      throw refusals.format('body', 'The body is not JSON');
    }
  });
}

function sendError(error: unknown, reply: FastifyReply, { bank, report }: BerlinContext): FastifyReply {
  const known = error instanceof BerlinError ? error : refusalOf(error);
  if (known.status >= 500) report(error);
  const { type, body } = errorBody(bank, known);
  return reply.code(known.status).header('content-type', `${type}; charset=utf-8`).send(body);
}

/** Fastify's own complaints about a request, in the framework's words. */
function refusalOf(error: unknown): BerlinError {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 415) return refusals.unsupportedMedia();
  return status === 400 || status === 413 ? refusals.format('body', 'The body cannot be read') : refusals.unexpected();
}
