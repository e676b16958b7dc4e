import { Module } from '@nestjs/common';
import { ConsentsModule } from '../consents/consents.module.js';
import { InstitutionsModule } from '../institutions/institutions.module.js';
import { UsersModule } from '../users/users.module.js';
import { AuthorisationsController } from './authorisations.controller.js';
import { AuthorisationsService } from './authorisations.service.js';
import { CallbackController } from './callback.controller.js';
import { CallbackService } from './callback.service.js';
import { ConsentOpening } from './consent-opening.service.js';
import { EmbeddedController } from './embedded.controller.js';
import { EmbeddedAuthorisations } from './embedded.service.js';
import { PreAuthorisation } from './pre-authorisation.service.js';
import { QrCodesController } from './qr-codes.controller.js';
import { QrCodes } from './qr-codes.service.js';
import { ReAuthorisation } from './re-authorisation.service.js';

@Module({
  imports: [ConsentsModule, InstitutionsModule, UsersModule],
  controllers: [AuthorisationsController, EmbeddedController, CallbackController, QrCodesController],
  providers: [
    AuthorisationsService,
    CallbackService,
    ConsentOpening,
    EmbeddedAuthorisations,
    PreAuthorisation,
    QrCodes,
    ReAuthorisation,
  ],
})
export class AuthorisationsModule {}
