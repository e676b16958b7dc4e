import { Module } from '@nestjs/common';
import { AccountsController } from './accounts.controller.js';
import { BalanceHistoryService } from './balance-history.service.js';
import { AccountsService } from './accounts.service.js';

@Module({
  controllers: [AccountsController],
  providers: [AccountsService, BalanceHistoryService],
  exports: [AccountsService],
})
export class AccountsModule {}
