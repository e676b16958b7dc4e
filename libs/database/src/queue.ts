import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { type ConnectionOptions, createPostgresBackend, type Queue, setDefaultBackendFactory } from 'bullmq';
import { deadlineOf } from './worker-host.js';

export { InjectQueue, OnWorkerEvent, Processor } from '@nestjs/bullmq';
export { Job, Queue } from 'bullmq';
export { JobGivenUpError, WorkerHost } from './worker-host.js';

export interface QueueSettings {
  program: string;
  /** Where the queues live when there is no Redis. */
  connectionString: string;
  redisUrl?: string | undefined;
}

/** What holds for every job of a queue. */
export interface JobRules {
  /** How often a job is tried. One is enough where a row stays due until it is dealt with: the next tick tries again. */
  attempts: number;
  /** Milliseconds between two attempts, growing by powers of two where it is exponential; false where there is only one. */
  backoff: { type: 'fixed' | 'exponential'; delay: number } | false;
  /** An attempt that takes longer has failed, whatever its work still does: longer than every timeout inside it. */
  deadlineMs: number;
}

/** Finished jobs are of interest for a while only; what must be known of them is in our own tables. */
const keptJobs = { removeOnComplete: true, removeOnFail: 100 };

/** The only place that knows where the queues are: Redis where it is configured, a Postgres schema of their own elsewhere. */
@Module({})
export class QueueModule {
  static forRoot({ program, connectionString, redisUrl }: QueueSettings): DynamicModule {
    if (redisUrl === undefined) setDefaultBackendFactory(createPostgresBackend);
    else setDefaultBackendFactory();
    const connection = redisUrl === undefined ? onPostgres(program, connectionString) : onRedis(redisUrl);
    return { module: QueueModule, imports: [BullModule.forRoot({ connection, prefix: `tributary-${program}` })] };
  }

  /** A queue by its name, with the rules of its jobs. */
  static register(name: string, { attempts, backoff, deadlineMs }: JobRules): DynamicModule {
    const defaultJobOptions = { ...keptJobs, attempts, ...(backoff && { backoff }) };
    const queue = BullModule.registerQueue({ name, defaultJobOptions });
    const deadline = { provide: deadlineOf(name), useValue: deadlineMs };
    return { module: QueueModule, imports: [queue], providers: [deadline], exports: [queue] };
  }
}

/**
 * Runs a job called `name` every `everyMs`, whatever number of processes asks for it: the schedule is one per queue and
 * name. A tick that a slow one delays is not made up for.
 */
export async function everyTick(queue: Queue, name: string, everyMs: number): Promise<void> {
  await queue.upsertJobScheduler(name, { every: everyMs }, { name });
}

/**
 * BullMQ's types know Redis only; its Postgres backend reads a pool's settings here and makes its tables by itself. Each
 * queue and each worker has a pool of its own, so a pool is one connection, and one that idles is closed soon: a backend
 * of Postgres costs memory.
 */
function onPostgres(program: string, connectionString: string): ConnectionOptions {
  const pool = { max: 1, idleTimeoutMillis: 2_000 };
  const settings: object = { connectionString, schema: `${program}_queue`, migrate: true, ...pool };
  return settings;
}

/** A worker waits on its connection for ever, so a command may be repeated for ever (BullMQ requires null). */
function onRedis(redisUrl: string): ConnectionOptions {
  return { url: redisUrl, maxRetriesPerRequest: null };
}
