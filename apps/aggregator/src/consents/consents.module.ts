import { Module } from '@nestjs/common';
import { QueueModule } from '#libs/database';
import { InstitutionsModule } from '../institutions/institutions.module.js';
import { BankCalls } from './bank-calls.service.js';
import { ConsentCodes } from './consent-codes.service.js';
import { ConsentSecrets } from './consent-secrets.js';
import { ConsentSteps } from './consent-steps.service.js';
import { ConsentSweep, consentsQueue } from './consent-sweep.service.js';
import { ConsentsController } from './consents.controller.js';
import { ConsentsService } from './consents.service.js';

@Module({
  imports: [QueueModule.register(consentsQueue), InstitutionsModule],
  controllers: [ConsentsController],
  providers: [ConsentsService, ConsentSecrets, ConsentSteps, ConsentCodes, BankCalls, ConsentSweep],
  exports: [ConsentsService, ConsentSecrets, ConsentSteps, ConsentCodes, BankCalls, ConsentSweep, QueueModule],
})
export class ConsentsModule {}
