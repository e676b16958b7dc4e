import { Module, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { InjectQueue, Queue } from '#libs/database';
import { createLogger } from '#libs/server';
import { jobOptions } from '../due-jobs.js';
import { RetentionService } from '../events/retention.service.js';
import { webhooksQueue } from '../queues.js';
import { DeliveriesService } from './deliveries.service.js';
import { WebhooksProcessor } from './webhooks.processor.js';

const sweepMs = 3_600_000;

/** What the worker does with the deliveries that were written with their events, and when both are past their retention. */
@Module({
  imports: [webhooksQueue],
  providers: [WebhooksProcessor, DeliveriesService, RetentionService],
  exports: [DeliveriesService, RetentionService],
})
export class WebhooksWorkerModule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly log = createLogger('webhooks');
  private timer: NodeJS.Timeout | undefined;

  constructor(@InjectQueue('webhooks') private readonly queue: Queue) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.askForSweep(), sweepMs).unref();
    this.askForSweep();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Sweeps that several processes ask for have one id, so they are one. */
  private askForSweep(): void {
    this.queue.add('sweep', {}, { ...jobOptions, jobId: 'sweep' }).catch((error: unknown) => {
      this.log.warn({ err: error }, 'a sweep was not taken');
    });
  }
}
