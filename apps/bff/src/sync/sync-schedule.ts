import { Injectable } from '@nestjs/common';
import { InjectQueue, type Queue } from '#libs/database';
import { createLogger } from '#libs/server';
import { jobOptions } from '../due-jobs.js';

/** Puts a due connection's job into the queue without waiting for the next tick. */
@Injectable()
export class SyncSchedule {
  private readonly log = createLogger('sync');

  constructor(@InjectQueue('sync') private readonly queue: Queue) {}

  /** The connection's row says that it is due; if the queue takes no job now, the next tick finds the row. */
  async soon(connectionId: string): Promise<void> {
    try {
      await this.queue.add('connection', { id: connectionId }, { ...jobOptions, jobId: connectionId });
    } catch (error) {
      this.log.warn({ err: error, connectionId }, 'a synchronisation waits for the next tick');
    }
  }
}
