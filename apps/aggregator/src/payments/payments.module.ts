import { Module } from '@nestjs/common';
import { QueueModule } from '#libs/database';
import { ConsentsModule } from '../consents/consents.module.js';
import { InstitutionsModule } from '../institutions/institutions.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { PaymentFollow } from './payment-follow.service.js';
import { PaymentRecord, paymentsQueue } from './payment-record.service.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsService } from './payments.service.js';

@Module({
  imports: [
    QueueModule.register(paymentsQueue, { attempts: 1, backoff: false, deadlineMs: 120_000 }),
    ConsentsModule,
    InstitutionsModule,
    WebhooksModule,
  ],
  controllers: [PaymentsController],
  providers: [PaymentsService, PaymentFollow, PaymentRecord],
  exports: [PaymentFollow, QueueModule],
})
export class PaymentsModule {}
