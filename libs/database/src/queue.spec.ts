import 'reflect-metadata';
import { type DynamicModule, Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { getQueueToken } from '@nestjs/bullmq';
import pg from 'pg';
import { emptyDatabase } from '../../../test/support/postgres.js';
import { until } from '../../../test/support/receiver.js';
import { hasRedis, startRedis } from '../../../test/support/redis.js';
import { takeDue } from './due.js';
import { everyTick, type Job, JobGivenUpError, Processor, type Queue, QueueModule, WorkerHost } from './queue.js';

interface Backend {
  connectionString: string;
  redisUrl?: string;
  stop(): Promise<void>;
}

const onPostgres = async (): Promise<Backend> => {
  const { url, drop } = await emptyDatabase();
  return { connectionString: url, stop: drop };
};
const onRedis = async (): Promise<Backend> => {
  const redis = await startRedis();
  return { connectionString: 'postgres://not-used', redisUrl: redis.url, stop: () => redis.stop() };
};
const backends: [name: string, start: () => Promise<Backend>][] = [['Postgres', onPostgres]];
if (hasRedis()) backends.push(['Redis', onRedis]);

/** What the suite's worker does with a job; each test sets its own. */
class Handler {
  work: (job: Job<{ id: number }>, signal?: AbortSignal) => Promise<void> = () => Promise.resolve();
}

/** A dead worker's jobs are looked for soon, so that the test need not wait half a minute; a machine that halts kills none. */
@Processor('work', { concurrency: 4, lockDuration: 4_000, stalledInterval: 500 })
@Injectable()
class WorkProcessor extends WorkerHost {
  protected override readonly graceMs = 500;

  constructor(private readonly handler: Handler) {
    super();
  }

  override process(job: Job<{ id: number }>, _token?: string, signal?: AbortSignal): Promise<void> {
    return this.handler.work(job, signal);
  }
}

describe.each(backends)('queues on %s', (_name, start) => {
  let backend: Backend;
  let producer: TestingModule;
  let queue: Queue;
  const handler = new Handler();

  /** A process of its own, as far as the queue can tell: with a worker, or only able to add jobs. */
  const startProcess = async (
    hasWorker: boolean,
    own: Handler = handler,
    deadlineMs = 60_000,
  ): Promise<TestingModule> => {
    const queues: DynamicModule[] = [
      QueueModule.forRoot({ program: 'test', connectionString: backend.connectionString, redisUrl: backend.redisUrl }),
      QueueModule.register('work', { attempts: 3, backoff: { type: 'fixed', delay: 50 }, deadlineMs }),
    ];
    const providers = hasWorker ? [WorkProcessor, { provide: Handler, useValue: own }] : [];
    const app = await Test.createTestingModule({ imports: queues, providers }).compile();
    return app.init();
  };
  /** Runs `body` while a worker runs. */
  const withWorker = async (
    body: (worker: TestingModule) => Promise<void>,
    own: Handler = handler,
    deadlineMs?: number,
  ): Promise<void> => {
    const worker = await startProcess(true, own, deadlineMs);
    try {
      await body(worker);
    } finally {
      await worker.close();
    }
  };

  beforeAll(async () => {
    backend = await start();
    producer = await startProcess(false);
    queue = producer.get<Queue>(getQueueToken('work'));
  });
  afterAll(async () => {
    await producer.close();
    await backend.stop();
  });
  beforeEach(() => queue.obliterate({ force: true }));

  it('runs a job once, however often it is added under one id', async () => {
    const ran: number[] = [];
    handler.work = ({ data }) => Promise.resolve(void ran.push(data.id));
    for (const id of [1, 1, 1, 2]) await queue.add('do', { id }, { jobId: `do-${id}` });
    await withWorker(() => until(() => ran.length >= 2));
    expect(ran.toSorted((one, other) => one - other)).toEqual([1, 2]);
  });

  it('tries a failed job again, as often as its queue says', async () => {
    const attempts: Record<number, number> = { 1: 0, 2: 0 };
    handler.work = ({ data }) => {
      const attempt = (attempts[data.id] = (attempts[data.id] ?? 0) + 1);
      return data.id === 1 && attempt === 3 ? Promise.resolve() : Promise.reject(new Error('not yet'));
    };
    await queue.add('do', { id: 1 });
    const hopeless = await queue.add('do', { id: 2 });
    await withWorker(async () => {
      await until(() => attempts[1] === 3 && attempts[2] === 3);
      await until(async () => (await hopeless.getState()) === 'failed');
    });
    expect(attempts).toEqual({ 1: 3, 2: 3 });
  });

  it('ticks on one schedule, whatever number of processes asks for it', async () => {
    let ticks = 0;
    handler.work = () => Promise.resolve(void (ticks += 1));
    await Promise.all([1, 2, 3].map(() => everyTick(queue, 'tick', 200)));
    expect(await queue.getJobSchedulers()).toHaveLength(1);
    await withWorker(() => until(() => ticks >= 3));
    await queue.removeJobScheduler('tick');
  });

  it('fails a job that outlasts its deadline, tells its work, and takes the next', async () => {
    const told: unknown[] = [];
    const slow = new Handler();
    slow.work = ({ data }, signal) => {
      if (data.id !== 1) return Promise.resolve();
      signal?.addEventListener('abort', () => told.push(signal.reason));
      return new Promise<void>(() => {});
    };
    const body = async () => {
      const endless = await queue.add('do', { id: 1 }, { attempts: 1 });
      await until(async () => (await endless.getState()) === 'failed');
      expect((await queue.getJob(endless.id ?? ''))?.failedReason).toBe('The job took longer than 1000 ms.');
      expect(told).toEqual([expect.any(JobGivenUpError)]);
      const next = await queue.add('do', { id: 2 });
      await until(async () => (await next.getState()) === 'unknown');
    };
    await withWorker(body, slow, 1_000);
  });

  it('tells the work of a job that the queue has taken away', async () => {
    const told: unknown[] = [];
    const robbed = new Handler();
    let begun = false;
    robbed.work = (_job, signal) => {
      begun = true;
      signal?.addEventListener('abort', () => told.push(signal.reason));
      return new Promise<void>(() => {});
    };
    const body = async (worker: TestingModule) => {
      const job = await queue.add('do', { id: 1 }, { attempts: 1 });
      await until(() => begun);
      worker.get(WorkProcessor).worker.emit('lockRenewalFailed', [job.id ?? '']);
      await until(async () => (await job.getState()) === 'failed');
      expect(told).toEqual([expect.any(JobGivenUpError)]);
    };
    await withWorker(body, robbed);
  });

  it('is left in time although a job never ends, and another worker tries that again', async () => {
    const stuck = new Handler();
    let taken = 0;
    stuck.work = () => {
      taken += 1;
      return new Promise<void>(() => {});
    };
    const first = await startProcess(true, stuck);
    await queue.add('do', { id: 9 });
    await until(() => taken === 1);
    const began = performance.now();
    await first.close();
    expect(performance.now() - began).toBeLessThan(10_000);
    const ran: number[] = [];
    handler.work = ({ data }) => Promise.resolve(void ran.push(data.id));
    await withWorker(() => until(() => ran.length === 1));
    expect({ taken, ran }).toEqual({ taken: 1, ran: [9] });
  });

  it('gives the job of a worker that died to another', async () => {
    const dying = new Handler();
    let taken = false;
    dying.work = () => {
      taken = true;
      return new Promise<void>(() => {});
    };
    const first = await startProcess(true, dying);
    await queue.add('do', { id: 7 });
    await until(() => taken);
    // Closed by force a worker neither finishes its job nor gives it back: what a kill looks like to the queue.
    await first.get(WorkProcessor).worker.close(true);
    const ran: number[] = [];
    handler.work = ({ data }) => Promise.resolve(void ran.push(data.id));
    await withWorker(() => until(() => ran.length === 1, 20_000));
    expect(ran).toEqual([7]);
    await first.close();
  });

  it('loses nothing when it is wiped: what is due stands in the table', async () => {
    const { url, drop } = await emptyDatabase();
    const pool = new pg.Pool({ connectionString: url });
    await pool.query('CREATE TABLE chores (id integer PRIMARY KEY, due_at timestamptz, lease_until timestamptz)');
    await pool.query(`INSERT INTO chores SELECT n, now() - interval '1 second' FROM generate_series(1, 5) n`);
    const done: number[] = [];
    const finish = async (id: number): Promise<void> => {
      await pool.query('UPDATE chores SET due_at = NULL WHERE id = $1', [id]);
      done.push(id);
    };
    handler.work = async ({ name, data }) => {
      if (name !== 'tick') return finish(data.id);
      const due = { table: 'chores', dueColumn: 'due_at', leaseColumn: 'lease_until', leaseMs: 1_000, limit: 10 };
      for (const { id } of await takeDue<{ id: number; due_at: Date }>(pool, due)) await queue.add('do', { id });
    };
    for (const id of [1, 2, 3, 4, 5]) await queue.add('do', { id });
    await queue.obliterate({ force: true });
    await everyTick(queue, 'tick', 200);
    await withWorker(() => until(() => done.length === 5));
    await queue.removeJobScheduler('tick');
    expect(done.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5]);
    await pool.end();
    await drop();
  });
});
