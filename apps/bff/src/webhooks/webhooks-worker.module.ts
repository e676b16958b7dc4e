import { Module } from '@nestjs/common';
import { webhooksQueue } from '../queues.js';
import { DeliveriesService } from './deliveries.service.js';
import { WebhooksProcessor } from './webhooks.processor.js';

/** What the worker does with the deliveries that were written with their events. */
@Module({
  imports: [webhooksQueue],
  providers: [WebhooksProcessor, DeliveriesService],
  exports: [DeliveriesService],
})
export class WebhooksWorkerModule {}
