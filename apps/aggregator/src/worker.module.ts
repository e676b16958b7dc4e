import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { everyTick, InjectQueue, Queue } from '#libs/database';
import { ConsentSweepProcessor } from './consents/consent-sweep.processor.js';
import { consentsQueue } from './consents/consent-sweep.service.js';
import { ConsentsModule } from './consents/consents.module.js';
import { PaymentPollProcessor } from './payments/payment-poll.processor.js';
import { paymentsQueue } from './payments/payment-record.service.js';
import { PaymentsModule } from './payments/payments.module.js';
import { DeliveryProcessor } from './webhooks/delivery.processor.js';
import { deliveriesQueue } from './webhooks/events.service.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

const sweepEveryMs = 5_000;
const consentSweepEveryMs = 60_000;
const forgetEveryMs = 3_600_000;

/** The processors, and the ticks that look for what is due. */
@Module({
  imports: [ConsentsModule, PaymentsModule, WebhooksModule],
  providers: [ConsentSweepProcessor, PaymentPollProcessor, DeliveryProcessor],
})
export class WorkerModule implements OnApplicationBootstrap {
  constructor(
    @InjectQueue(consentsQueue) private readonly consents: Queue,
    @InjectQueue(paymentsQueue) private readonly payments: Queue,
    @InjectQueue(deliveriesQueue) private readonly deliveries: Queue,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await everyTick(this.consents, 'sweep', consentSweepEveryMs);
    await everyTick(this.payments, 'sweep', sweepEveryMs);
    await everyTick(this.deliveries, 'sweep', sweepEveryMs);
    await everyTick(this.deliveries, 'forget', forgetEveryMs);
  }
}
