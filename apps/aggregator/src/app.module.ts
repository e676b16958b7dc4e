import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DatabaseModule } from '#libs/database';
import { ApplicationsModule } from './applications/applications.module.js';
import { AuthModule } from './auth/auth.module.js';
import { AuthorisationsModule } from './authorisations/authorisations.module.js';
import { Env } from './config.js';
import { ConsentsModule } from './consents/consents.module.js';
import { ConstraintsModule } from './constraints/constraints.module.js';
import { DeprecatedModule } from './deprecated/deprecated.module.js';
import { FinancialDataModule } from './financial-data/financial-data.module.js';
import { InstitutionsModule } from './institutions/institutions.module.js';
import { PaymentsModule } from './payments/payments.module.js';
import { UsersModule } from './users/users.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** The features of the interface. */
@Module({
  imports: [
    AuthModule,
    ApplicationsModule,
    UsersModule,
    InstitutionsModule,
    ConstraintsModule,
    AuthorisationsModule,
    ConsentsModule,
    FinancialDataModule,
    PaymentsModule,
    WebhooksModule,
    DeprecatedModule,
  ],
})
export class AppModule {}

/** What every feature stands on: the settings, the database and the queues. */
@Global()
@Module({})
export class GroundModule {
  static forRoot(env: Env): DynamicModule {
    return {
      module: GroundModule,
      imports: [
        DatabaseModule.forRoot({
          program: 'aggregator',
          connectionString: env.DATABASE_URL,
          sealingKeys: env.SEALING_KEYS,
          redisUrl: env.REDIS_URL,
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
