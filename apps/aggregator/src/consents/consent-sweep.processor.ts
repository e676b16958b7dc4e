import { type Job, Processor, WorkerHost } from '#libs/database';
import { newTracingId, runWithTracing } from '#libs/server';
import { ConsentSweep, consentsQueue } from './consent-sweep.service.js';

/** Runs the tick. */
@Processor(consentsQueue, { concurrency: 1 })
export class ConsentSweepProcessor extends WorkerHost {
  constructor(private readonly sweep: ConsentSweep) {
    super();
  }

  override async process(_job: Job, _token?: string, signal?: AbortSignal): Promise<void> {
    await runWithTracing(newTracingId(), () => this.sweep.run(signal));
  }
}
