import { randomBytes } from 'node:crypto';
import type { ModuleMetadata, Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { spokenVersion } from '#libs/contract';
import { type AggregatorPrisma, RowChanges } from '#libs/database';
import { createApp, createLogger, createProblemWriter } from '#libs/server';
import { AppModule, programModule } from '../../apps/aggregator/src/app.module.js';
import {
  ApplicationKeysService,
  type IssuedKey,
} from '../../apps/aggregator/src/applications/application-keys.service.js';
import { Env } from '../../apps/aggregator/src/config.js';
import { toProblem } from '../../apps/aggregator/src/institutions/institutions.service.js';
import { type FreshDatabase, freshDatabase } from './postgres.js';

/** Who asks, and for whom. */
export interface Asking {
  /** Absent: no credentials are sent. */
  as?: IssuedKey;
  subApplication?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer<Body = never> {
  status: number;
  headers: Headers;
  body: Body;
}

/** An aggregator on a database of its own, asked without a network. */
export class TestAggregator {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly db: FreshDatabase<AggregatorPrisma>,
    readonly env: Env,
  ) {}

  /** Starts one; `env` overrides settings, `modules` adds to the features (a worker, say). */
  static async start({
    env = {},
    modules = [],
  }: { env?: Partial<Env>; modules?: NonNullable<ModuleMetadata['imports']> } = {}) {
    // What a test writes past the program is known to it at once, as what it writes itself.
    let changes: RowChanges | undefined;
    const db = await freshDatabase('aggregator', (tag) => changes?.hear(tag));
    const settings = Object.assign(new Env(), {
      DATABASE_URL: db.url,
      SEALING_KEYS: `test:${randomBytes(32).toString('base64')}`,
      DATABASE_POOL_SIZE: 5,
      ...env,
    });
    const aggregator = await TestAggregator.on(db, settings, modules);
    changes = aggregator.get(RowChanges);
    return aggregator;
  }

  /** Another process, as far as that can be had in one, on the same database and with the same settings. */
  beside(modules: NonNullable<ModuleMetadata['imports']> = []): Promise<TestAggregator> {
    return TestAggregator.on({ ...this.db, close: () => Promise.resolve() }, this.env, modules);
  }

  private static async on(
    db: FreshDatabase<AggregatorPrisma>,
    settings: Env,
    modules: NonNullable<ModuleMetadata['imports']>,
  ): Promise<TestAggregator> {
    const logger = createLogger('aggregator', undefined, 'silent');
    const app = await createApp(programModule(settings, [AppModule, ...modules]), {
      name: 'aggregator',
      logger,
      answerHeaders: ({ headers }) => spokenVersion(headers, settings.SERVICE_NAME),
      errors: () => createProblemWriter({ logger, source: 'YAPILY', translate: toProblem }),
    });
    await app.init();
    await app.getHttpAdapter().getInstance().ready();
    return new TestAggregator(app, db, settings);
  }

  get<T>(type: Type<T>): T {
    return this.app.get(type, { strict: false });
  }

  /** A root application, or with `root` a sub-application, each with a secret of its own. */
  application(name: string, root?: IssuedKey): Promise<IssuedKey> {
    return this.get(ApplicationKeysService).create({ name, ...(root ? { rootApplicationId: root.id } : {}) });
  }

  async ask<Body = never>(route: `${string} /${string}`, asking: Asking = {}): Promise<Answer<Body>> {
    const [method, url] = route.split(' ') as ['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string];
    const { as, subApplication, body, headers } = asking;
    const basic = as && `Basic ${Buffer.from(`${as.id}:${as.secret}`).toString('base64')}`;
    const answer = await this.app.inject({
      method,
      url,
      headers: {
        ...(basic ? { authorization: basic } : {}),
        ...(subApplication === undefined ? {} : { 'sub-application': subApplication }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const received = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) received.set(name, String(value));
    const text = answer.payload;
    return { status: answer.statusCode, headers: received, body: (text === '' ? undefined : JSON.parse(text)) as Body };
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.db.close();
  }
}
