import { Module, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { InjectQueue, Queue } from '#libs/database';
import { createLogger } from '#libs/server';
import { ConnectionsModule } from './connections/connections.module.js';
import { ConsentProcessor } from './connections/consent.processor.js';
import { CustomersModule } from './customers/customers.module.js';
import { tickJob } from './due-jobs.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { IngestionWorkerModule } from './ingestion/ingestion-worker.module.js';
import { MerchantsModule } from './merchants/merchants.module.js';
import { RelocationService } from './merchants/relocation.service.js';
import { PaymentsModule } from './payments/payments.module.js';
import { PaymentsProcessor } from './payments/payments.processor.js';
import { consentsQueue, ingestionQueue, paymentsQueue, syncQueue, upkeepQueue, webhooksQueue } from './queues.js';
import { ConnectionProcessor } from './sync/connection.processor.js';
import { SyncScheduleModule } from './sync/sync-schedule.module.js';
import { SyncModule } from './sync/sync.module.js';
import { UpkeepProcessor } from './upkeep.processor.js';
import { WebhooksWorkerModule } from './webhooks/webhooks-worker.module.js';

const tickMs = 2_000;

/** The processors, and the ticks that look for what is due. */
@Module({
  imports: [
    ConnectionsModule,
    PaymentsModule,
    SyncModule,
    SyncScheduleModule,
    CustomersModule,
    MerchantsModule,
    IdempotencyModule,
    IngestionWorkerModule,
    WebhooksWorkerModule,
    syncQueue,
    consentsQueue,
    paymentsQueue,
    ingestionQueue,
    webhooksQueue,
    upkeepQueue,
  ],
  providers: [ConnectionProcessor, ConsentProcessor, PaymentsProcessor, UpkeepProcessor, RelocationService],
})
export class WorkerModule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly log = createLogger('worker');
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @InjectQueue('sync') private readonly sync: Queue,
    @InjectQueue('consents') private readonly consents: Queue,
    @InjectQueue('payments') private readonly payments: Queue,
    @InjectQueue('ingestion') private readonly ingestion: Queue,
    @InjectQueue('webhooks') private readonly webhooks: Queue,
    @InjectQueue('upkeep') private readonly upkeep: Queue,
  ) {}

  /**
   * A timer here, and no schedule in the queue: a queue that is wiped loses its schedules too. Ticks of several processes
   * at one time have one id, so they are one.
   */
  async onApplicationBootstrap(): Promise<void> {
    await this.tick();
    this.timer = setInterval(() => void this.tick(), tickMs);
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private async tick(): Promise<void> {
    const { name, data, opts } = tickJob();
    const queues = [this.sync, this.consents, this.payments, this.ingestion, this.webhooks, this.upkeep];
    const added = queues.map((queue) => queue.add(name, data, opts));
    for (const outcome of await Promise.allSettled(added)) {
      if (outcome.status === 'rejected') this.log.warn({ err: outcome.reason as Error }, 'a tick was not taken');
    }
  }
}
