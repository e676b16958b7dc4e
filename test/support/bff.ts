import { randomBytes } from 'node:crypto';
import type { ModuleMetadata, Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type BffPrisma, WorkerHost } from '#libs/database';
import { createApp, createLogger, now, resetClock, setClock } from '#libs/server';
import { AppModule, programModule } from '../../apps/bff/src/app.module.js';
import { Env } from '../../apps/bff/src/config.js';
import { programOptions } from '../../apps/bff/src/program-options.js';
import { AccountSync } from '../../apps/bff/src/sync/account-sync.service.js';
import { SyncModule } from '../../apps/bff/src/sync/sync.module.js';
import { SyncService } from '../../apps/bff/src/sync/sync.service.js';
import { type FreshDatabase, freshDatabase } from './postgres.js';
import { ScriptedAggregator } from './scripted-aggregator.js';

export interface BffAnswer<Body> {
  status: number;
  headers: Record<string, string>;
  body: Body;
  text: string;
}

/** How a call is made: by whom (`as` is a bearer token), with what. */
export interface BffCall {
  as?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** The address that the connection comes from. */
  from?: string;
}

export interface TestMerchant {
  id: string;
  apiKey: string;
  subApplicationId: string;
}

/** A BFF on a database of its own before a scripted aggregator, asked without a network of its own. */
export class TestBff {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly db: FreshDatabase<BffPrisma>,
    readonly aggregator: ScriptedAggregator,
    readonly env: Env,
  ) {}

  /**
   * Starts one; `modules` adds to the features (the worker, say). Jobs stay in their queues and are the test's to do, which could
   * otherwise not say what has been done when; with `workers` they are worked off as in the program.
   */
  static async start({
    env = {},
    modules = [SyncModule],
    workers = false,
  }: { env?: Partial<Env>; modules?: NonNullable<ModuleMetadata['imports']>; workers?: boolean } = {}) {
    const [db, aggregator] = await Promise.all([freshDatabase('bff'), ScriptedAggregator.start()]);
    const settings = Object.assign(new Env(), {
      BFF_URL: 'http://bff.test',
      DATABASE_URL: db.url,
      SEALING_KEYS: `test:${randomBytes(32).toString('base64')}`,
      DATABASE_POOL_SIZE: 5,
      AGGREGATOR_URL: aggregator.url,
      AGGREGATOR_APPLICATION_ID: '00000000-0000-4000-8000-000000000001',
      AGGREGATOR_APPLICATION_SECRET: randomBytes(16).toString('hex'),
      SESSION_KEY: randomBytes(32).toString('hex'),
      OPERATOR_KEY: randomBytes(32).toString('hex'),
      ...env,
    });
    const options = { ...programOptions(settings), logger: createLogger('bff', undefined, 'silent') };
    const app = await createApp(programModule(settings, [AppModule, ...modules]), options);
    await app.init();
    if (!workers) await Promise.all(workerHosts(app).map(({ worker }) => worker.pause()));
    await app.getHttpAdapter().getInstance().ready();
    return new TestBff(app, db, aggregator, settings);
  }

  get<T>(type: Type<T>): T {
    return this.app.get(type, { strict: false });
  }

  async ask<Body = never>(
    route: `${string} /${string}`,
    { as, body, headers, from }: BffCall = {},
  ): Promise<BffAnswer<Body>> {
    const [method, url] = route.split(' ') as ['GET' | 'POST' | 'DELETE', string];
    const answer = await this.app.inject({
      method,
      url,
      ...(from === undefined ? {} : { remoteAddress: from }),
      headers: {
        ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    });
    const text = answer.payload;
    const isJson = /[/+]json/.test(String(answer.headers['content-type']));
    const received = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
    return {
      status: answer.statusCode,
      headers: received,
      body: (isJson ? JSON.parse(text) : undefined) as Body,
      text,
    };
  }

  async merchant(name = 'Corner Shop'): Promise<TestMerchant> {
    const body = {
      name,
      merchantCategoryCode: '5411',
      ppcUserGroup: 'CONSUMER_GOODS_SERVICES',
      isContractPresent: true,
    };
    return (await this.ask<TestMerchant>('POST /v1/merchants', { as: this.env.OPERATOR_KEY, body })).body;
  }

  async session({ apiKey }: TestMerchant, reference: string): Promise<{ token: string; customerId: string }> {
    const body = { customer: { reference } };
    return (await this.ask<{ token: string; customerId: string }>('POST /v1/sessions', { as: apiKey, body })).body;
  }

  /**
   * A connection whose customer has approved at the bank and come back, from `address`; where that is not known, the first reading
   * counts as one without them.
   */
  async connected(
    token: string,
    institutionId = 'bank',
    address = 'unknown',
  ): Promise<{ id: string; consentId: string }> {
    const made = await this.ask<{ id: string; authorisationUrl: string }>('POST /v1/connections', {
      as: token,
      body: { institutionId },
    });
    const consentId = new URL(made.body.authorisationUrl).searchParams.get('consent') ?? '';
    const back = this.aggregator.approve(consentId);
    await this.ask(`GET ${back.pathname}${back.search}` as `GET /${string}`, { from: address });
    return { id: made.body.id, consentId };
  }

  /** What workers do about a connection now: its list if that is due, then each of its accounts that is. */
  async synchronise(connectionId: string): Promise<void> {
    await this.get(SyncService).run(connectionId);
    const { rows } = await this.db.pool.query<{ id: string }>(
      'select account_id as id from account_schedules where connection_id = $1 and due_at <= $2',
      [connectionId, now()],
    );
    await Promise.all(rows.map(({ id }) => this.get(AccountSync).run(id)));
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.aggregator.close();
    await this.db.close();
  }
}

/** Runs `work` as if it were `ms` milliseconds later, or earlier when negative. */
export async function later<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const at = new Date(now().getTime() + ms);
  setClock(() => at);
  try {
    return await work();
  } finally {
    resetClock();
  }
}

function workerHosts(app: NestFastifyApplication): WorkerHost[] {
  const providers = [...app.get(ModulesContainer).values()].flatMap((module) => [...module.providers.values()]);
  return providers.map(({ instance }) => instance).filter((instance) => instance instanceof WorkerHost);
}
