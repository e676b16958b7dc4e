import { Module } from '@nestjs/common';
import { ConsentsModule } from '../consents/consents.module.js';
import { InstitutionsModule } from '../institutions/institutions.module.js';
import { AccountsService } from './accounts.service.js';
import { FinancialDataController } from './financial-data.controller.js';
import { SnapshotsService } from './snapshots.service.js';
import { TransactionsService } from './transactions.service.js';

@Module({
  imports: [ConsentsModule, InstitutionsModule],
  controllers: [FinancialDataController],
  providers: [AccountsService, TransactionsService, SnapshotsService],
})
export class FinancialDataModule {}
