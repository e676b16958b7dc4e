import { Module } from '@nestjs/common';
import { ProgressStreams } from './progress-streams.js';
import { SyncRequests } from './sync-requests.service.js';
import { SyncRunsController } from './sync-runs.controller.js';
import { SyncScheduleModule } from './sync-schedule.module.js';

/** Synchronisations on request, and how they go. */
@Module({
  imports: [SyncScheduleModule],
  controllers: [SyncRunsController],
  providers: [SyncRequests, ProgressStreams],
  exports: [ProgressStreams],
})
export class SyncRunsModule {}
