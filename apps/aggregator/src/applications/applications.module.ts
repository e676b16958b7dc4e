import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module.js';
import { ApplicationKeysService } from './application-keys.service.js';
import { ApplicationsController } from './applications.controller.js';
import { ApplicationsService } from './applications.service.js';

@Module({
  imports: [UsersModule],
  controllers: [ApplicationsController],
  providers: [ApplicationsService, ApplicationKeysService],
  exports: [ApplicationKeysService],
})
export class ApplicationsModule {}
