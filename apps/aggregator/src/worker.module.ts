import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { everyTick, InjectQueue, Queue } from '#libs/database';
import { deliveriesQueue } from './webhooks/events.service.js';
import { DeliveryProcessor } from './webhooks/delivery.processor.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

const sweepEveryMs = 5_000;

/** The processors, and the ticks that look for what is due. */
@Module({ imports: [WebhooksModule], providers: [DeliveryProcessor] })
export class WorkerModule implements OnApplicationBootstrap {
  constructor(@InjectQueue(deliveriesQueue) private readonly deliveries: Queue) {}

  async onApplicationBootstrap(): Promise<void> {
    await everyTick(this.deliveries, 'sweep', sweepEveryMs);
  }
}
