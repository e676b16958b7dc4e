import { Module } from '@nestjs/common';
import { SyncScheduleModule } from '../sync/sync-schedule.module.js';
import { AuthorisationService } from './authorisation.service.js';
import { ConnectionsController } from './connections.controller.js';
import { ConnectionsService } from './connections.service.js';
import { InstitutionsService } from './institutions.service.js';

@Module({
  imports: [SyncScheduleModule],
  controllers: [ConnectionsController],
  providers: [ConnectionsService, AuthorisationService, InstitutionsService],
  exports: [AuthorisationService],
})
export class ConnectionsModule {}
