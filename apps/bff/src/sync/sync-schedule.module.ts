import { Module } from '@nestjs/common';
import { QueueModule } from '#libs/database';
import { SyncSchedule } from './sync-schedule.js';

@Module({ imports: [QueueModule.register('sync')], providers: [SyncSchedule], exports: [SyncSchedule] })
export class SyncScheduleModule {}
