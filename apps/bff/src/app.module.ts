import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DatabaseModule } from '#libs/database';
import { AccountsModule } from './accounts/accounts.module.js';
import { AggregatorModule } from './aggregator/aggregator.module.js';
import { AuthModule } from './auth/auth.module.js';
import { Env } from './config.js';
import { ConnectionsModule } from './connections/connections.module.js';
import { CustomersModule } from './customers/customers.module.js';
import { EventsModule } from './events/events.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { IngestionModule } from './ingestion/ingestion.module.js';
import { MerchantsModule } from './merchants/merchants.module.js';
import { PaymentsModule } from './payments/payments.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { SyncRunsModule } from './sync/sync-runs.module.js';
import { TransactionsModule } from './transactions/transactions.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** The features of the merchants' API. */
@Module({
  imports: [
    AggregatorModule,
    AuthModule,
    IdempotencyModule,
    MerchantsModule,
    CustomersModule,
    SessionsModule,
    ConnectionsModule,
    SyncRunsModule,
    AccountsModule,
    TransactionsModule,
    PaymentsModule,
    EventsModule,
    IngestionModule,
    WebhooksModule,
  ],
})
export class AppModule {}

/** What every feature stands on: the settings, the database and the queues. */
@Global()
@Module({})
export class GroundModule {
  static forRoot(env: Env): DynamicModule {
    const { DATABASE_URL: connectionString, SEALING_KEYS: sealingKeys, REDIS_URL: redisUrl } = env;
    return {
      module: GroundModule,
      imports: [
        DatabaseModule.forRoot({
          program: 'bff',
          connectionString,
          sealingKeys,
          redisUrl,
          max: env.DATABASE_POOL_SIZE,
        }),
      ],
      providers: [{ provide: Env, useValue: env }],
      exports: [Env],
    };
  }
}

/** The whole program, made of the ground and what the role asks for. */
export function programModule(env: Env, modules: NonNullable<DynamicModule['imports']>): DynamicModule {
  return { module: class ProgramModule {}, imports: [GroundModule.forRoot(env), ...modules] };
}
