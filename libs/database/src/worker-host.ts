import { WorkerHost as BullWorkerHost } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Inject, type OnModuleDestroy } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Job, Worker } from 'bullmq';

/** Nest's token of the milliseconds that one attempt at a job of this queue may take. */
export function deadlineOf(queueName: string): string {
  return `QUEUE_DEADLINE_${queueName}`;
}

/** The attempt was given up, though its work may still be under way. */
export class JobGivenUpError extends Error {
  override name = 'JobGivenUpError';
}

/**
 * Holds a queue's worker. An attempt ends at its queue's deadline also when its work does not: it has failed then, with a
 * `JobGivenUpError`, which is also the reason of the signal that the work is given. The program's end takes no more jobs,
 * lets those under way finish for `graceMs`, and gives up the others, before anything else is closed.
 */
export abstract class WorkerHost extends BullWorkerHost implements OnModuleDestroy, BeforeApplicationShutdown {
  @Inject(ModuleRef) private readonly modules!: ModuleRef;
  /** Less than the time a program has to end in. */
  protected readonly graceMs: number = 5_000;
  private readonly leaving = new AbortController();
  private closed: Promise<void> | undefined;

  constructor() {
    super();
    const work = this.process.bind(this);
    this.process = (job, token) => {
      const deadlineMs = this.modules.get<number>(deadlineOf(job.queueName), { strict: false });
      return within(deadlineMs, this.leaving.signal, (signal) => work(job, token, signal));
    };
  }

  abstract override process(job: Job, token?: string, signal?: AbortSignal): Promise<unknown>;

  /** Does not wait: the workers of all modules close at the same time. */
  onModuleDestroy(): void {
    const worker = this.startedWorker();
    if (!worker) return;
    const giveUp = () => this.leaving.abort(new JobGivenUpError('The program ended.'));
    const grace = setTimeout(giveUp, this.graceMs);
    this.closed = worker.close().finally(() => clearTimeout(grace));
  }

  /** Nest closes global modules, such as the pool's, in no order that could be relied on, but all of them after this. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.closed;
  }

  /** A program that ends before it has begun has none, and its getter throws. */
  private startedWorker(): Worker | undefined {
    try {
      return this.worker;
    } catch {
      return undefined;
    }
  }
}

async function within<T>(
  deadlineMs: number,
  leaving: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  leaving.throwIfAborted();
  const attempt = new AbortController();
  const late = () => attempt.abort(new JobGivenUpError(`The job took longer than ${deadlineMs} ms.`));
  const leave = () => attempt.abort(leaving.reason);
  const timer = setTimeout(late, deadlineMs);
  leaving.addEventListener('abort', leave, { once: true });
  const givenUp = new Promise<never>((_, fail) => {
    attempt.signal.addEventListener('abort', () => fail(attempt.signal.reason as Error), { once: true });
  });
  try {
    return await Promise.race([work(attempt.signal), givenUp]);
  } finally {
    clearTimeout(timer);
    leaving.removeEventListener('abort', leave);
  }
}
