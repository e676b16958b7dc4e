import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Pool } from 'pg';
import { POOL } from '#libs/database';
import { type BootstrapOptions, createProblemDetailsWriter, listenHost } from '#libs/server';
import { addAdmission } from './auth/admission-hooks.js';
import { type Env, isProduction } from './config.js';
import { addIdempotency } from './idempotency/idempotency-hooks.js';
import { routeWebhooks, webhookRoute } from './ingestion/ingestion.route.js';
import { refuseUnknownQuery } from './known-query.js';
import { describedAs } from './openapi-description.js';
import { serveReferencePage } from './reference-page.js';
import { OriginsService } from './sessions/origins.service.js';
import { trustedProxies } from './trusted-proxies.js';

/** The routes that a worker answers: it is asked how it is, nothing else. */
const statusRoutes = new Set(['/health', '/ready', '/metrics']);

function keepToStatusRoutes(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      if (statusRoutes.has(request.routeOptions.url ?? '')) done();
      else void reply.code(404).send();
    });
}

/** Frontends call from other origins with a bearer token; no cookie is ever involved, so none is allowed. */
function allowFrontends(app: NestFastifyApplication, env: Env): void {
  const origins = app.get(OriginsService, { strict: false });
  app.enableCors({
    origin: isProduction(env) ? (origin: string | undefined) => origins.allows(origin) : '*',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['authorization', 'content-type', 'idempotency-key', 'customer-id', 'last-event-id', 'psu-id'],
    exposedHeaders: ['retry-after', 'ratelimit', 'ratelimit-policy', 'idempotency-replayed', 'content-disposition'],
    maxAge: 600,
  });
}

/** How the BFF is started, by its program and by its tests; `page` is the folder of the built reference page. */
export function programOptions(env: Env, page?: string): BootstrapOptions {
  return {
    name: 'bff',
    port: env.BFF_PORT,
    host: listenHost(env.BFF_URL),
    trustProxy: (env.TRUSTED_PROXIES === undefined ? undefined : trustedProxies(env.TRUSTED_PROXIES)) ?? false,
    errors: (logger) => createProblemDetailsWriter({ logger }),
    rawBodyRoutes: [webhookRoute],
    docs: describedAs,
    readiness: (app) => ({ database: () => app.get<Pool>(POOL).query('select 1') }),
    configure: async (app) => {
      if (env.ROLE === 'worker') return keepToStatusRoutes(app);
      allowFrontends(app, env);
      addAdmission(app);
      refuseUnknownQuery(app);
      addIdempotency(app);
      routeWebhooks(app);
      if (page !== undefined && !isProduction(env)) await serveReferencePage(app, page);
    },
  };
}
