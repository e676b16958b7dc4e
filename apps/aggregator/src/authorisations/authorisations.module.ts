import { Module } from '@nestjs/common';
import { ConsentsModule } from '../consents/consents.module.js';
import { InstitutionsModule } from '../institutions/institutions.module.js';
import { UsersModule } from '../users/users.module.js';
import { AuthorisationsController } from './authorisations.controller.js';
import { AuthorisationsService } from './authorisations.service.js';
import { CallbackController } from './callback.controller.js';
import { CallbackService } from './callback.service.js';

@Module({
  imports: [ConsentsModule, InstitutionsModule, UsersModule],
  controllers: [AuthorisationsController, CallbackController],
  providers: [AuthorisationsService, CallbackService],
})
export class AuthorisationsModule {}
