import 'reflect-metadata';
import { randomBytes, randomUUID } from 'node:crypto';
import { getQueueToken } from '@nestjs/bullmq';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import pg from 'pg';
import { type FreshDatabase, freshDatabase } from '../../../test/support/postgres.js';
import { until } from '../../../test/support/receiver.js';
import { DatabaseModule } from './database.module.js';
import { POOL } from './pool.js';
import type { AggregatorPrisma } from './prisma-clients.js';
import { type Job, Processor, type Queue, QueueModule, WorkerHost } from './queue.js';
import { asSystem } from './scope.js';

/** What happened, in order. */
const story: string[] = [];

/** Takes its time, then writes through the program's pool, as processors do. */
@Processor('slow')
@Injectable()
class SlowProcessor extends WorkerHost implements OnApplicationShutdown {
  constructor(@Inject(POOL) private readonly pool: pg.Pool) {
    super();
  }

  override async process({ data }: Job<{ id: string }>): Promise<void> {
    story.push('taken');
    await until(() => story.includes('closing'));
    // A pool that did not wait for this job would be ending by then.
    await until(() => this.pool.ending, 300).catch(() => undefined);
    const text = `INSERT INTO applications (id, name, created_at, updated_at) VALUES ($1, 'slow', now(), now())`;
    await asSystem(() => this.pool.query(text, [data.id]));
    story.push('written');
  }

  onApplicationShutdown(): void {
    story.push('shut down');
  }
}

describe('a program that is closed while a job runs', () => {
  let db: FreshDatabase<AggregatorPrisma>;
  let app: TestingModule;

  beforeAll(async () => {
    db = await freshDatabase('aggregator');
    const sealingKeys = `k1:${randomBytes(32).toString('base64')}`;
    const queue = QueueModule.register('slow', { attempts: 1, backoff: false, deadlineMs: 20_000 });
    app = await Test.createTestingModule({
      imports: [DatabaseModule.forRoot({ program: 'aggregator', connectionString: db.url, sealingKeys }), queue],
      providers: [SlowProcessor],
    }).compile();
    await app.init();
  });
  afterAll(() => db.close());

  it('lets the job write and be recorded before its connections end, and takes no other', async () => {
    const queue = app.get<Queue>(getQueueToken('slow'));
    const id = randomUUID();
    const options = { removeOnComplete: false };
    const job = await queue.add('write', { id }, options);
    const waiting = await queue.add('write', { id: randomUUID() }, options);
    await until(() => story.includes('taken'));
    const pool = app.get<pg.Pool>(POOL);
    story.push('closing');
    await app.close();
    expect(story).toEqual(['taken', 'closing', 'written', 'shut down']);
    expect(pool.ended).toBe(true);
    const saved = await asSystem(async () => await db.prisma.application.findUnique({ where: { id } }));
    expect(saved?.id).toBe(id);
    expect({ job: await stateOf(job), waiting: await stateOf(waiting) }).toEqual({
      job: 'completed',
      waiting: 'waiting',
    });
  });

  /** As the queue's own table has it: the program that could be asked has ended. */
  async function stateOf({ id }: Job): Promise<unknown> {
    const client = new pg.Client({ connectionString: db.url });
    await client.connect();
    const { rows } = await client.query<{ state: string }>('SELECT * FROM aggregator_queue.job WHERE id = $1', [id]);
    await client.end();
    return rows[0]?.state;
  }
});
