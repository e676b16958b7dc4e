import { Injectable } from '@nestjs/common';
import { InjectQueue, type Queue } from '#libs/database';
import { createLogger } from '#libs/server';
import { jobOptions } from '../due-jobs.js';

/** Puts jobs of what is due into the queue without waiting for the next tick. */
@Injectable()
export class SyncSchedule {
  private readonly log = createLogger('sync');

  constructor(@InjectQueue('sync') private readonly queue: Queue) {}

  /** A connection whose row says that it is due; if the queue takes no job now, the next tick finds the row. */
  async soon(connectionId: string): Promise<void> {
    const job = { name: 'connection', data: { id: connectionId }, opts: { ...jobOptions, jobId: connectionId } };
    await this.add([job]);
  }

  /** Accounts whose schedules say that they are due. `first`: somebody waits for them, so they go before all others. */
  async accounts(ids: readonly string[], { first = false }: { first?: boolean } = {}): Promise<void> {
    await this.add(accountJobs(ids, first));
  }

  private async add(jobs: Parameters<Queue['addBulk']>[0]): Promise<void> {
    if (jobs.length === 0) return;
    try {
      await this.queue.addBulk(jobs);
    } catch (error) {
      this.log.warn({ err: error, jobs: jobs.length }, 'a synchronisation waits for the next tick');
    }
  }
}

/** The jobs of accounts, each under an id of the account's own: one is never in the queue twice. */
export function accountJobs(ids: readonly string[], lifo = false): Parameters<Queue['addBulk']>[0] {
  return ids.map((id) => ({ name: 'account', data: { id }, opts: { ...jobOptions, jobId: `account-${id}`, lifo } }));
}
