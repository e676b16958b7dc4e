import { Module } from '@nestjs/common';
import { QueueModule } from '#libs/database';
import { DeliveriesService } from './deliveries.service.js';
import { deliveriesQueue, EventsService } from './events.service.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

@Module({
  imports: [QueueModule.register(deliveriesQueue, { attempts: 1, backoff: false, deadlineMs: 180_000 })],
  controllers: [WebhooksController],
  providers: [WebhooksService, EventsService, DeliveriesService],
  exports: [EventsService, DeliveriesService, QueueModule],
})
export class WebhooksModule {}
