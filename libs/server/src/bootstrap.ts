import { type DynamicModule, HttpException, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { problems } from '#libs/contract';
import { addBodyParsers } from './body-parsers.js';
import { type ErrorWriter, ProblemFilter, pathOf, send } from './exception.filter.js';
import { closeGracefully, closeOnSignals } from './lifecycle.js';
import { type Logger, createLogger, nestLogger } from './logger.js';
import { asRoot, createRequestHistogram, Metrics } from './metrics.js';
import { type OpenApiOptions, serveDocs } from './openapi.js';
import { addRequestHooks, headersOf } from './request-hooks.js';
import { watchRoutes } from './routes.js';
import { type ReadinessCheck, addStatusRoutes } from './status-routes.js';
import { acceptTracingId, newTracingId } from './tracing.js';
import { answerUnreadable } from './unreadable-requests.js';
import { createValidationPipe } from './validation.pipe.js';
import { allocateYoung } from './young-heap.js';

export interface BootstrapOptions {
  /** Names the program in its log. */
  name: string;
  /** 0 takes a free one. */
  port: number;
  /** The address to listen on; every one by default. */
  host?: string;
  /** Bytes of a body; 1 MiB by default. */
  bodyLimit?: number;
  /** Bytes of a body, by route template. */
  bodyLimits?: Readonly<Record<string, number>>;
  /** Route templates whose body stays a Buffer, in `request.body` and `request.rawBody`. */
  rawBodyRoutes?: readonly string[];
  /** Headers that go with every answer to a request, refusals included. */
  answerHeaders?: (request: FastifyRequest) => Readonly<Record<string, string>>;
  /** Writes every error answer. Without one, Nest's own bodies are sent. */
  errors?: (logger: Logger) => ErrorWriter;
  /** Checks requests against the classes their handlers declare. On by default. */
  validation?: boolean;
  /** Serves the OpenAPI description at /docs. */
  docs?: OpenApiOptions;
  /** What `/ready` asks before it says yes. */
  readiness?: (app: NestFastifyApplication) => Readonly<Record<string, ReadinessCheck>>;
  /** Proxies whose `X-Forwarded-*` headers are believed: addresses, or a test of address and distance. Nobody's, by default. */
  trustProxy?: boolean | string[] | ((address: string, hop: number) => boolean);
  /** Closes on SIGTERM and SIGINT. On by default. */
  signals?: boolean;
  logger?: Logger;
  /** Whatever else the program sets up before it listens. */
  configure?: (app: NestFastifyApplication) => void | Promise<void>;
}

export interface Running {
  app: NestFastifyApplication;
  /** Where it is reached from this machine, without a slash at the end. */
  url: string;
  close: () => Promise<void>;
}

/** Starts a program: Nest on Fastify, with everything that each of our programs needs around it. Prints nothing but log lines. */
export async function bootstrap(AppModule: Type | DynamicModule, options: BootstrapOptions): Promise<Running> {
  allocateYoung();
  const logger = options.logger ?? createLogger(options.name);
  const app = await createApp(AppModule, { ...options, logger });
  await app.listen(options.port, options.host ?? '0.0.0.0');
  if (options.signals ?? true) closeOnSignals(app, logger);
  return { app, url: urlOf(app), close: () => closeGracefully(app) };
}

/** The same program, set up but not listening: `init()` it and call `inject()`, or listen by oneself. */
export async function createApp(
  AppModule: Type | DynamicModule,
  options: Omit<BootstrapOptions, 'port' | 'host'>,
): Promise<NestFastifyApplication> {
  const logger = options.logger ?? createLogger(options.name);
  const write = options.errors?.(logger);
  const adapter = createAdapter(options, write);
  const fastify = adapter.getInstance();
  const routes = watchRoutes(fastify, options.bodyLimits ?? {});
  const app = await NestFactory.create<NestFastifyApplication>(asRoot(AppModule), adapter, {
    logger: nestLogger(logger),
    abortOnError: false,
  });
  const metrics = app.get(Metrics);
  addRequestHooks(fastify, {
    logger,
    histogram: createRequestHistogram(metrics),
    answerHeaders: options.answerHeaders,
  });
  addBodyParsers(adapter, options.rawBodyRoutes ?? []);
  if (write) app.useGlobalFilters(new ProblemFilter(refuseOtherMethods(write, routes.methodsOf)));
  if (options.validation ?? true) app.useGlobalPipes(createValidationPipe());
  if (options.docs) serveDocs(app, options.docs);
  addStatusRoutes(fastify, { readiness: options.readiness?.(app) ?? {}, metrics });
  await options.configure?.(app);
  return app;
}

function createAdapter(
  options: Omit<BootstrapOptions, 'port' | 'host'>,
  write: ErrorWriter | undefined,
): FastifyAdapter {
  return new FastifyAdapter({
    logger: false,
    bodyLimit: options.bodyLimit ?? 1024 * 1024,
    trustProxy: options.trustProxy ?? false,
    // A caller that opens a request and never ends it must not hold a connection for ever.
    requestTimeout: 60_000,
    // Account ids are the banks' own, and some are long.
    routerOptions: { maxParamLength: 512 },
    requestIdHeader: false,
    genReqId: (request: { headers: NodeJS.Dict<string | string[]> }) =>
      acceptTracingId(request.headers['x-tracing-id']) ?? newTracingId(),
    // An address that cannot be read is refused before any hook or filter is reached.
    ...(write
      ? {
          frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
            send(reply.headers(headersOf(request, options.answerHeaders)), write(error, request)),
          clientErrorHandler: answerUnreadable(write),
        }
      : {}),
  });
}

/** An address that is routed under another method is 405 with `Allow` (RFC 9110, section 15.5.6), not 404. */
function refuseOtherMethods(write: ErrorWriter, methodsOf: (path: string) => string[]): ErrorWriter {
  return (error, request) => {
    const { url, method, is404 } = request;
    const isUnrouted = is404 && error instanceof HttpException && error.getStatus() === 404;
    const methods = isUnrouted && url !== undefined ? methodsOf(pathOf(url)) : [];
    // Where a plugin serves files, an address may be routed and yet be none of them.
    if (methods.length === 0 || method === undefined || methods.includes(method)) return write(error, request);
    const answer = write(problems.methodNotAllowed(), request);
    return { ...answer, headers: { ...answer.headers, allow: methods.join(', ') } };
  };
}

function urlOf(app: NestFastifyApplication): string {
  const fastify: FastifyInstance = app.getHttpAdapter().getInstance();
  const address = fastify.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://localhost:${port}`;
}
