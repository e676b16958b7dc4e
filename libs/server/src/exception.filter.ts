import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorShape, Problem, problemBody, problems } from '#libs/contract';
import type { Logger } from './logger.js';

/** What a refused request is answered with. */
export interface ErrorAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: object;
}

/** What is known of a refused request. One that could not be read has neither address nor route. */
export type Refused = Pick<FastifyRequest, 'id'> &
  Partial<Pick<FastifyRequest, 'url' | 'method' | 'routeOptions' | 'is404'>>;

/** Writes the error answer of one request; the last word on anything thrown anywhere. */
export type ErrorWriter = (error: unknown, request: Refused) => ErrorAnswer;

export interface ProblemOptions {
  logger: Logger;
  /** Stands in `source` when the service itself refuses: the service's name in capitals. */
  source?: string;
  supportUrl?: string;
  /** Turns an error of another room into the Problem the interface has for it. */
  translate?: (error: unknown) => Problem | undefined;
}

const contentType = 'application/json;charset=UTF-8';

/** The four error bodies of the interface, chosen by the route's `@ErrorShape` and by status. */
export function createProblemWriter(options: ProblemOptions): ErrorWriter {
  const { logger, source, supportUrl, translate } = options;
  const surroundings = { ...(source ? { source } : {}), ...(supportUrl ? { supportUrl } : {}) };
  return (error, request) => {
    const refused = toProblem(error, translate);
    logFault(logger, error, refused, request);
    const body = problemBody(refused, shapeOf(request), request.id, surroundings);
    return { status: refused.status, headers: { ...refused.headers, 'content-type': contentType }, body };
  };
}

/** RFC 9457 problem details, for an API that is our own and not the interface's. */
export function createProblemDetailsWriter(options: Omit<ProblemOptions, 'source' | 'supportUrl'>): ErrorWriter {
  return (error, request) => {
    const refused = toProblem(error, options.translate);
    logFault(options.logger, error, refused, request);
    const headers = { ...askingForBearer(refused), 'content-type': 'application/problem+json' };
    return { status: refused.status, headers, body: problemDetails(refused, request) };
  };
}

function problemDetails(refused: Problem, request: Refused): object {
  const code = refused.issues[0]?.code;
  const issues = refused.issues.map(({ code: issueCode, parameter, message }) => ({
    code: issueCode,
    ...(parameter === undefined ? {} : locate(parameter)),
    ...(message === undefined ? {} : { message }),
  }));
  return {
    type: 'about:blank',
    title: titleOf(refused.statusText),
    status: refused.status,
    detail: refused.message,
    ...(request.url === undefined ? {} : { instance: pathOf(request.url) }),
    tracingId: request.id,
    ...(code === undefined ? {} : { code }),
    ...(issues.length > 0 ? { issues } : {}),
  };
}

/** A JSONPath becomes the JSON Pointer (RFC 6901) that problem details use; a plain name stays a parameter. */
function locate(parameter: string): { pointer: string } | { parameter: string } {
  if (!parameter.startsWith('$')) return { parameter };
  const steps = parameter.slice(1).match(/[^.[\]]+/g) ?? [];
  return { pointer: steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('') };
}

/** `NOT_FOUND` reads `Not found`. */
function titleOf(statusText: string): string {
  const words = statusText.replaceAll('_', ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** 401 names the way to prove oneself (RFC 9110, section 15.5.2); here it is a bearer token, never Basic. */
function askingForBearer({ status, headers }: Problem): Record<string, string> {
  return status === 401 ? { ...headers, 'www-authenticate': 'Bearer' } : { ...headers };
}

function shapeOf(request: Refused): ErrorShape {
  return request.routeOptions?.config.errorShape ?? 'standard';
}

/** The path without its query, which may carry what no answer and no log should repeat. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url;
}

/** Whatever was thrown, as a Problem. What is not a refusal is our bug: a 500 that says nothing of its cause. */
function toProblem(error: unknown, translate: ProblemOptions['translate']): Problem {
  if (error instanceof Problem) return error;
  const translated = translate?.(error);
  if (translated) return translated;
  const status = statusOf(error);
  if (status === undefined) return problems.internal();
  return frameworkProblem(status, messageOf(error));
}

/** Nest, Fastify and the http-errors package refuse with a status of their own: an unreadable body, an unknown route, … */
function statusOf(error: unknown): number | undefined {
  const status = error instanceof HttpException ? error.getStatus() : ownStatus(error);
  return status !== undefined && status >= 400 && status < 600 && status !== 500 ? status : undefined;
}

function ownStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

function messageOf(error: unknown): string | undefined {
  return error instanceof Error && error.message !== '' ? error.message : undefined;
}

function frameworkProblem(status: number, message: string | undefined): Problem {
  // Messages of 404 and of parsers repeat the address or the body: they are replaced by our own.
  if (status === 400) return problems.badRequest();
  if (status === 401) return problems.credentialsMissing();
  if (status === 403) return problems.forbidden(message === undefined ? {} : { message });
  if (status === 404) return problems.notFound();
  if (status === 405) return problems.methodNotAllowed();
  if (status === 413) return problems.payloadTooLarge();
  if (status === 414) return problems.badRequest({ message: 'The address is too long' });
  if (status === 415) return problems.unsupportedMediaType();
  if (status === 503) return problems.unavailable();
  return status < 500 ? problems.badRequest(message === undefined ? {} : { message }) : problems.internal();
}

/** A fault of ours is logged here and nowhere else, with its stack; a refusal is what the access line is for. */
function logFault(logger: Logger, error: unknown, refused: Problem, request: Refused): void {
  if (refused.status < 500 || error instanceof Problem) return;
  const route = request.routeOptions?.url ?? 'unknown';
  const err = error instanceof Error ? error : new Error(`Thrown without an Error: ${typeof error}`);
  logger.error({ err, method: request.method, route, tracingId: request.id }, 'request failed');
}

/** Hands everything thrown on a route, before it or beside any to one writer. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly write: ErrorWriter) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    if (reply.sent) return;
    send(reply, this.write(error, http.getRequest<FastifyRequest>()));
  }
}

/** Sends what a writer has written. */
export function send(reply: FastifyReply, answer: ErrorAnswer): void {
  void reply.code(answer.status).headers(answer.headers).send(answer.body);
}
