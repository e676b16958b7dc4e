import { Module } from '@nestjs/common';
import { EventStreams } from './event-streams.js';
import { EventTail } from './event-tail.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';

@Module({
  controllers: [EventsController],
  providers: [EventsService, EventTail, EventStreams],
  exports: [EventsService],
})
export class EventsModule {}
