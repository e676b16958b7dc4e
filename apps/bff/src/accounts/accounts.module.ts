import { Module } from '@nestjs/common';
import { AccountJoins } from './account-joins.service.js';
import { AccountsController } from './accounts.controller.js';
import { BalanceHistoryService } from './balance-history.service.js';
import { AccountsService } from './accounts.service.js';

@Module({
  controllers: [AccountsController],
  providers: [AccountsService, AccountJoins, BalanceHistoryService],
  exports: [AccountsService],
})
export class AccountsModule {}
