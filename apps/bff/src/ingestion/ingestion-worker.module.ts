import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { ingestionQueue } from '../queues.js';
import { EventHandlers } from './handlers.js';
import { IngestionProcessor } from './ingestion.processor.js';

/** What the worker does with the events that the API has stored. */
@Module({
  imports: [ConnectionsModule, PaymentsModule, ingestionQueue],
  providers: [IngestionProcessor, EventHandlers],
  exports: [IngestionProcessor, EventHandlers],
})
export class IngestionWorkerModule {}
