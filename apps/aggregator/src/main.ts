import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Pool } from 'pg';
import { spokenVersion } from '#libs/contract';
import { POOL } from '#libs/database';
import { bootstrap, createProblemWriter, listenHost } from '#libs/server';
import { AppModule, programModule } from './app.module.js';
import { ApplicationKeysService } from './applications/application-keys.service.js';
import { type Env, readEnv } from './config.js';
import { toProblem } from './institutions/institutions.service.js';
import { describedAs } from './openapi-description.js';
import { WorkerModule } from './worker.module.js';

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

async function ensureSandboxApplication(app: NestFastifyApplication, env: Env): Promise<void> {
  const { SANDBOX_APPLICATION_ID: id, SANDBOX_APPLICATION_SECRET: secret } = env;
  if (id === undefined || secret === undefined) return;
  await app.get(ApplicationKeysService, { strict: false }).ensure({ id, secret, name: 'Sandbox' });
}

const env = readEnv();
const modules = env.ROLE === 'api' ? [AppModule] : [AppModule, WorkerModule];
await bootstrap(programModule(env, modules), {
  name: 'aggregator',
  port: env.AGGREGATOR_PORT,
  host: listenHost(env.AGGREGATOR_URL),
  errors: (logger) => createProblemWriter({ logger, source: env.SERVICE_NAME.toUpperCase(), translate: toProblem }),
  answerHeaders: ({ headers }) => spokenVersion(headers, env.SERVICE_NAME),
  docs: describedAs,
  readiness: (app) => ({ database: () => app.get<Pool>(POOL).query('SELECT 1') }),
  configure: async (app) => {
    if (env.ROLE === 'worker') keepToStatusRoutes(app);
    await ensureSandboxApplication(app, env);
  },
});
