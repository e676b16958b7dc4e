import { Module } from '@nestjs/common';
import { QueueModule } from '#libs/database';
import { InstitutionsModule } from '../institutions/institutions.module.js';
import { BankCalls } from './bank-calls.service.js';
import { ConsentSecrets } from './consent-secrets.js';
import { ConsentSweep, consentsQueue } from './consent-sweep.service.js';
import { ConsentsController } from './consents.controller.js';
import { ConsentsService } from './consents.service.js';

@Module({
  imports: [QueueModule.register(consentsQueue), InstitutionsModule],
  controllers: [ConsentsController],
  providers: [ConsentsService, ConsentSecrets, BankCalls, ConsentSweep],
  exports: [ConsentsService, ConsentSecrets, BankCalls, ConsentSweep, QueueModule],
})
export class ConsentsModule {}
