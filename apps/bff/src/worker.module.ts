import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { everyTick, InjectQueue, Queue } from '#libs/database';
import { ConnectionsModule } from './connections/connections.module.js';
import { ConsentProcessor } from './connections/consent.processor.js';
import { IngestionWorkerModule } from './ingestion/ingestion-worker.module.js';
import { PaymentsModule } from './payments/payments.module.js';
import { PaymentsProcessor } from './payments/payments.processor.js';
import { consentsQueue, ingestionQueue, paymentsQueue, syncQueue } from './queues.js';
import { ConnectionProcessor } from './sync/connection.processor.js';
import { SyncModule } from './sync/sync.module.js';

const tickMs = 2_000;

/** The processors, and the ticks that look for what is due. */
@Module({
  imports: [
    ConnectionsModule,
    PaymentsModule,
    SyncModule,
    IngestionWorkerModule,
    syncQueue,
    consentsQueue,
    paymentsQueue,
    ingestionQueue,
  ],
  providers: [ConnectionProcessor, ConsentProcessor, PaymentsProcessor],
})
export class WorkerModule implements OnApplicationBootstrap {
  constructor(
    @InjectQueue('sync') private readonly sync: Queue,
    @InjectQueue('consents') private readonly consents: Queue,
    @InjectQueue('payments') private readonly payments: Queue,
    @InjectQueue('ingestion') private readonly ingestion: Queue,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    for (const queue of [this.sync, this.consents, this.payments, this.ingestion])
      await everyTick(queue, 'tick', tickMs);
  }
}
