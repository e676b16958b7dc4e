import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { ForCustomer } from '../auth/access.js';
import { UuidParam } from '../auth/uuid-param.js';
import { ChangesQuery, TransactionChanges, TransactionPage, TransactionQuery } from './transaction.dto.js';
import { TransactionsService } from './transactions.service.js';

const json = 'application/json; charset=utf-8';

@ApiTags('Transactions')
@ForCustomer()
@Controller('v1')
export class TransactionsController {
  constructor(private readonly transactions: TransactionsService) {}

  @Get('transactions')
  @Header('content-type', json)
  @ApiOkResponse({ type: TransactionPage })
  listTransactions(@CurrentScope() scope: Scope, @Query() query: TransactionQuery): Promise<string> {
    return this.transactions.list(scope, query);
  }

  @Get('accounts/:accountId/transactions')
  @Header('content-type', json)
  @ApiOkResponse({ type: TransactionPage })
  listTransactionsOfAccount(
    @CurrentScope() scope: Scope,
    @Param('accountId', UuidParam) accountId: string,
    @Query() query: TransactionQuery,
  ): Promise<string> {
    return this.transactions.listOfAccount(scope, accountId, query);
  }

  @Get('transactions/sync')
  @Header('content-type', json)
  @ApiOkResponse({ type: TransactionChanges })
  listTransactionChanges(@CurrentScope() scope: Scope, @Query() query: ChangesQuery): Promise<string> {
    return this.transactions.changes(scope, query);
  }
}
