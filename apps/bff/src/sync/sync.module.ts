import { Module } from '@nestjs/common';
import { AccountSync } from './account-sync.service.js';
import { SyncFaults } from './sync-faults.service.js';
import { SyncService } from './sync.service.js';

@Module({ providers: [SyncService, AccountSync, SyncFaults], exports: [SyncService, AccountSync] })
export class SyncModule {}
