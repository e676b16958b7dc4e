import { Module } from '@nestjs/common';
import { ConsentsModule } from '../consents/consents.module.js';
import { InstitutionsModule } from '../institutions/institutions.module.js';
import { AccountDetailsController } from './account-details.controller.js';
import { AccountsService } from './accounts.service.js';
import { BankReads } from './bank-reads.service.js';
import { FinancialDataController } from './financial-data.controller.js';
import { OffsetPages } from './offset-pages.service.js';
import { RealTimeController } from './real-time.controller.js';
import { RealTimeCursors } from './real-time-cursors.js';
import { RealTimeService } from './real-time.service.js';
import { SnapshotsService } from './snapshots.service.js';
import { StatementsController } from './statements.controller.js';
import { StatementsService } from './statements.service.js';
import { TransactionsService } from './transactions.service.js';

@Module({
  imports: [ConsentsModule, InstitutionsModule],
  controllers: [FinancialDataController, StatementsController, AccountDetailsController, RealTimeController],
  providers: [
    AccountsService,
    TransactionsService,
    StatementsService,
    BankReads,
    OffsetPages,
    SnapshotsService,
    RealTimeService,
    RealTimeCursors,
  ],
})
export class FinancialDataModule {}
