import { Module } from '@nestjs/common';
import { PaymentAuthorisationService } from './payment-authorisation.service.js';
import { PaymentSubmissionService } from './payment-submission.service.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsService } from './payments.service.js';

@Module({
  controllers: [PaymentsController],
  providers: [PaymentsService, PaymentAuthorisationService, PaymentSubmissionService],
  exports: [PaymentAuthorisationService, PaymentSubmissionService],
})
export class PaymentsModule {}
