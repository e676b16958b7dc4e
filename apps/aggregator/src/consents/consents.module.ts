import { Module } from '@nestjs/common';
import { QueueModule } from '#libs/database';
import { InstitutionsModule } from '../institutions/institutions.module.js';
import { BankCalls } from './bank-calls.service.js';
import { ConsentAccounts } from './consent-accounts.service.js';
import { ConsentCodes } from './consent-codes.service.js';
import { ConsentSecrets } from './consent-secrets.js';
import { ConsentSteps } from './consent-steps.service.js';
import { ConsentSweep, consentsQueue } from './consent-sweep.service.js';
import { ConsentsController } from './consents.controller.js';
import { ConsentsService } from './consents.service.js';
import { KnownConsents } from './known-consents.service.js';

@Module({
  imports: [
    QueueModule.register(consentsQueue, { attempts: 1, backoff: false, deadlineMs: 300_000 }),
    InstitutionsModule,
  ],
  controllers: [ConsentsController],
  providers: [
    ConsentsService,
    ConsentAccounts,
    ConsentSecrets,
    ConsentSteps,
    ConsentCodes,
    BankCalls,
    ConsentSweep,
    KnownConsents,
  ],
  exports: [
    ConsentsService,
    ConsentAccounts,
    ConsentSecrets,
    ConsentSteps,
    ConsentCodes,
    BankCalls,
    ConsentSweep,
    KnownConsents,
    QueueModule,
  ],
})
export class ConsentsModule {}
