import { setTimeout as delay } from 'node:timers/promises';
import { DynamicModule, Inject, Module, OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { createPool, POOL, Program, roleOf } from './pool.js';
import { AggregatorPrisma, BffPrisma } from './prisma-clients.js';
import { QueueModule } from './queue.js';
import { RowChanges } from './row-changes.js';
import { SecretBox } from './secret-box.js';

const poolEndsWithinMs = 2_000;

export interface DatabaseSettings {
  program: Program;
  connectionString: string;
  /** See `SecretBox`. */
  sealingKeys: string;
  /** Queues on Redis; on the same Postgres where it is left out. */
  redisUrl?: string | undefined;
  /** Most connections of the pool. */
  max?: number;
}

/** Gives every module of a program its pool (`POOL`), its Prisma client, the `SecretBox`, what it hears of changed rows, and the queues' connection. */
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(POOL) private readonly pool: pg.Pool) {}

  static forRoot({ program, connectionString, sealingKeys, redisUrl, max }: DatabaseSettings): DynamicModule {
    const prisma = program === 'aggregator' ? AggregatorPrisma : BffPrisma;
    return {
      module: DatabaseModule,
      global: true,
      imports: [QueueModule.forRoot({ program, connectionString, redisUrl })],
      providers: [
        { provide: RowChanges, useFactory: () => new RowChanges(listenerOf(connectionString, program)) },
        {
          provide: POOL,
          useFactory: (changes: RowChanges) => {
            const onChange = (tag: string) => changes.hear(tag);
            return createPool({ connectionString, schema: program, onChange, ...(max && { max }) });
          },
          inject: [RowChanges],
        },
        { provide: prisma, useFactory: (pool: pg.Pool) => new prisma(pool), inject: [POOL] },
        { provide: SecretBox, useFactory: () => new SecretBox(sealingKeys) },
      ],
      exports: [POOL, prisma, SecretBox, RowChanges],
    };
  }

  /**
   * Runs when nothing takes requests or jobs any more. What was given up may still hold a connection, and the pool would
   * wait for it for ever.
   */
  async onApplicationShutdown(): Promise<void> {
    await Promise.race([this.pool.end(), delay(poolEndsWithinMs, undefined, { ref: false })]);
  }
}

function listenerOf(connectionString: string, program: Program): pg.ClientConfig {
  return {
    connectionString,
    application_name: `tributary-${program}-changes`,
    options: `-c role=${roleOf(program)}`,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  };
}
