import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { DeliveryLists } from './delivery-lists.service.js';
import { EndpointsController } from './endpoints.controller.js';
import { EndpointsService } from './endpoints.service.js';
import { ReplayController } from './replay.controller.js';
import { ReplayService } from './replay.service.js';

@Module({
  imports: [EventsModule],
  controllers: [EndpointsController, ReplayController],
  providers: [EndpointsService, DeliveryLists, ReplayService],
})
export class WebhooksModule {}
