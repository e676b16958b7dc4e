import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module.js';
import { ApplicationKeysService } from './application-keys.service.js';
import { ApplicationsController } from './applications.controller.js';
import { ApplicationsService } from './applications.service.js';
import { VrpConfigurationController } from './vrp-configuration.controller.js';
import { VrpConfigurationService } from './vrp-configuration.service.js';

@Module({
  imports: [UsersModule],
  controllers: [ApplicationsController, VrpConfigurationController],
  providers: [ApplicationsService, ApplicationKeysService, VrpConfigurationService],
  exports: [ApplicationKeysService, ApplicationsService],
})
export class ApplicationsModule {}
