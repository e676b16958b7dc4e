import { Module } from '@nestjs/common';
import { TransactionCorrectionsController } from './transaction-corrections.controller.js';
import { TransactionCorrections } from './transaction-corrections.service.js';
import { TransactionExportService } from './transaction-export.service.js';
import { TransactionsController } from './transactions.controller.js';
import { TransactionsService } from './transactions.service.js';

@Module({
  controllers: [TransactionsController, TransactionCorrectionsController],
  providers: [TransactionsService, TransactionExportService, TransactionCorrections],
  exports: [TransactionsService],
})
export class TransactionsModule {}
