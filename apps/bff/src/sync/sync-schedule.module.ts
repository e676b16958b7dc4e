import { Module } from '@nestjs/common';
import { syncQueue } from '../queues.js';
import { SyncSchedule } from './sync-schedule.js';

@Module({ imports: [syncQueue], providers: [SyncSchedule], exports: [SyncSchedule] })
export class SyncScheduleModule {}
