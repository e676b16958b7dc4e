import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Histogram } from 'prom-client';
import { problems } from '#libs/contract';
import type { Logger } from './logger.js';
import { RequestTurns } from './request-turns.js';
import { runWithTracing } from './tracing.js';

export interface RequestHookOptions {
  logger: Logger;
  histogram?: Histogram<'method' | 'route' | 'status'> | undefined;
  answerHeaders?: AnswerHeaders | undefined;
}

type AnswerHeaders = (request: FastifyRequest) => Readonly<Record<string, string>>;

/** Routes that are asked for every few seconds by machines: not worth a line each. */
const quietRoutes = new Set(['/health', '/ready', '/metrics']);

/**
 * The work of every request: tracing id, time taken, access line, figures, headers of the answer. It is in Fastify's hooks because
 * the first Nest interceptor alone costs more than all of this together.
 */
export function addRequestHooks(
  fastify: FastifyInstance,
  { logger, histogram, answerHeaders }: RequestHookOptions,
): void {
  const turns = new RequestTurns();
  fastify.addHook('onRequest', (_request, _reply, done) => turns.begin(done));
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(headersOf(request, answerHeaders));
    // U+0000 in an address can match nothing that is stored, and Postgres refuses it as a parameter.
    if (request.url.includes('%00')) done(problems.badRequest({ message: 'The address must not have NUL characters' }));
    else runWithTracing(request.id, done);
  });
  // Reading a body continues in the socket's own context, which has lost the tracing id.
  fastify.addHook('preValidation', (request, _reply, done) => runWithTracing(request.id, done));
  fastify.addHook('onSend', (request, reply, payload, done) => {
    finishHeaders(reply);
    if (!request.raw.complete) readOn(request, reply);
    done(null, payload);
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    record({ logger, histogram }, request, reply);
    done();
  });
}

/** What every answer says of itself and of the program. */
export function headersOf(request: FastifyRequest, more?: AnswerHeaders): Record<string, string> {
  return { 'x-tracing-id': request.id, ...more?.(request) };
}

function finishHeaders(reply: FastifyReply): void {
  // Compatible services write the type in exactly this form; Fastify's own differs by a blank and by case.
  const type = reply.getHeader('content-type');
  if (type === 'application/json; charset=utf-8') reply.header('content-type', 'application/json;charset=UTF-8');
  // This type has no parameters (RFC 9457, section 6.1); Fastify adds one to everything it takes for JSON.
  if (type === 'application/problem+json; charset=utf-8') reply.header('content-type', 'application/problem+json');
  if (reply.getHeader('cache-control') === undefined) reply.header('cache-control', 'no-store');
  reply.header('x-content-type-options', 'nosniff');
}

/**
 * A body that is refused before its end is read on and thrown away, no longer than a request may take: most clients write all
 * of it before they look for an answer, and a closed connection would keep the answer from them.
 */
function readOn(request: FastifyRequest, reply: FastifyReply): void {
  reply.removeHeader('connection');
  request.raw.resume();
}

function record({ logger, histogram }: RequestHookOptions, request: FastifyRequest, reply: FastifyReply): void {
  const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
  const { method } = request;
  const status = reply.statusCode;
  const ms = Math.round(reply.elapsedTime * 100) / 100;
  histogram?.observe({ method, route, status }, ms / 1000);
  if (quietRoutes.has(route) || !logger.isLevelEnabled('info')) return;
  logger.info({ method, route, status, ms, tracingId: request.id }, 'request');
}
