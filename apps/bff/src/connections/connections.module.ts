import { Module } from '@nestjs/common';
import { ConsentProbe } from '../consents/consent-probe.service.js';
import { ConsentTerms } from '../consents/consent-terms.service.js';
import { ForecastController } from '../consents/forecast.controller.js';
import { Notices } from '../consents/notices.service.js';
import { Supersession } from '../consents/supersession.service.js';
import { Withdrawals } from '../consents/withdrawals.service.js';
import { SyncScheduleModule } from '../sync/sync-schedule.module.js';
import { AuthorisationService } from './authorisation.service.js';
import { ConnectionsController } from './connections.controller.js';
import { ConnectionsService } from './connections.service.js';
import { ConsentAdoption } from './consent-adoption.service.js';
import { ConsentAnswers } from './consent-answers.service.js';
import { ConsentHints } from './consent-hints.service.js';
import { InstitutionsService } from './institutions.service.js';
import { ReconfirmationService } from './reconfirmation.service.js';
import { RenewalCompletion } from './renewal-completion.service.js';
import { RenewalLinks } from './renewal-links.service.js';
import { RenewalPageController } from './renewal-page.controller.js';
import { RenewalsController } from './renewals.controller.js';
import { RenewalsService } from './renewals.service.js';

@Module({
  imports: [SyncScheduleModule],
  controllers: [ConnectionsController, RenewalsController, RenewalPageController, ForecastController],
  providers: [
    ConnectionsService,
    AuthorisationService,
    InstitutionsService,
    ConsentAnswers,
    ConsentAdoption,
    ConsentTerms,
    RenewalsService,
    RenewalLinks,
    RenewalCompletion,
    ReconfirmationService,
    ConsentHints,
    Notices,
    ConsentProbe,
    Supersession,
    Withdrawals,
  ],
  exports: [AuthorisationService, RenewalCompletion, ConsentHints, Notices, ConsentProbe, Withdrawals],
})
export class ConnectionsModule {}
