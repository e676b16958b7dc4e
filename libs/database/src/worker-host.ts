import { OnWorkerEvent, WorkerHost as BullWorkerHost } from '@nestjs/bullmq';
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
 * `JobGivenUpError`, which is also the reason of the signal that the work is given; so does one whose job the queue may have
 * handed to another worker. The program's end takes no more jobs, lets those under way finish for `graceMs`, and gives up the
 * others, before anything else is closed.
 */
export abstract class WorkerHost extends BullWorkerHost implements OnModuleDestroy, BeforeApplicationShutdown {
  @Inject(ModuleRef) private readonly modules!: ModuleRef;
  /** Less than the time a program has to end in. */
  protected readonly graceMs: number = 5_000;
  private readonly leaving = new AbortController();
  /** The attempts under way, by their job's id. */
  private readonly attempts = new Map<string, AbortController>();
  private closed: Promise<void> | undefined;

  constructor() {
    super();
    const work = this.process.bind(this);
    this.process = (job, token) => {
      const deadlineMs = this.modules.get<number>(deadlineOf(job.queueName), { strict: false });
      return this.attempt(job.id ?? '', deadlineMs, (signal) => work(job, token, signal));
    };
  }

  abstract override process(job: Job, token?: string, signal?: AbortSignal): Promise<unknown>;

  /** The queue could not be told that these jobs are still worked on, so it gives them to another worker. */
  @OnWorkerEvent('lockRenewalFailed')
  onLocksLost(jobIds: string[]): void {
    for (const id of jobIds) this.attempts.get(id)?.abort(new JobGivenUpError('The queue took the job away.'));
  }

  /** Does not wait: the workers of all modules close at the same time. */
  onModuleDestroy(): void {
    const worker = this.startedWorker();
    if (!worker) return;
    const giveUp = () => {
      this.leaving.abort(new JobGivenUpError('The program ended.'));
      for (const attempt of this.attempts.values()) attempt.abort(this.leaving.signal.reason);
    };
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

  private async attempt<T>(id: string, deadlineMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.leaving.signal.throwIfAborted();
    const attempt = new AbortController();
    const { signal } = attempt;
    this.attempts.set(id, attempt);
    const late = () => attempt.abort(new JobGivenUpError(`The job took longer than ${deadlineMs} ms.`));
    const timer = setTimeout(late, deadlineMs);
    const givenUp = new Promise<never>((_, fail) => {
      signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true });
    });
    try {
      return await Promise.race([work(signal), givenUp]);
    } finally {
      clearTimeout(timer);
      if (this.attempts.get(id) === attempt) this.attempts.delete(id);
    }
  }
}
