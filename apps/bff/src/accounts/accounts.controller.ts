import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { ForCustomer } from '../auth/access.js';
import { UuidParam } from '../auth/uuid-param.js';
import { ListQuery } from '../list.dto.js';
import { AccountList, AccountView, BalanceHistory, BalanceQuery, JoinAccount } from './account.dto.js';
import { BalanceHistoryService } from './balance-history.service.js';
import { AccountJoins } from './account-joins.service.js';
import { AccountsService } from './accounts.service.js';

@ApiTags('Accounts')
@ForCustomer()
@Controller('v1/accounts')
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly history: BalanceHistoryService,
    private readonly joins: AccountJoins,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List the accounts',
    description:
      'Of all connections, the oldest first, in pages, each under an id that outlives consents, with the balances that were read last. The event log tells when one is known again under another id or identifier, or at an institution that has succeeded its own (`account.linked`), has a new number (`account.renumbered`), or is new and may be another of which nothing proves it (`account.unresolved`, with candidates). Where their transactions prove it later, or a person says so, two become one (`account.joined`).',
  })
  @ApiOkResponse({ type: AccountList })
  listAccounts(@CurrentScope() scope: Scope, @Query() query: ListQuery): Promise<AccountList> {
    return this.accounts.list(scope, query);
  }

  @Get(':accountId')
  @ApiOperation({ summary: 'Read an account', description: 'With its balances and how its synchronisation stands.' })
  @ApiOkResponse({ type: AccountView })
  getAccount(@CurrentScope() scope: Scope, @Param('accountId', UuidParam) id: string): Promise<AccountView> {
    return this.accounts.get(scope, id);
  }

  @Post(':accountId/join')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Two accounts are one',
    description:
      'The one in the path stays, and is read as whichever of the two is shown by the institution now; the other ends. What both have in common is there once, under the older ids; all else of the other moves here, and the change feed tells it. 409 where institutions show both.',
  })
  @ApiOkResponse({ type: AccountView })
  async joinAccount(
    @CurrentScope() scope: Scope,
    @Param('accountId', UuidParam) id: string,
    @Body() { accountId }: JoinAccount,
  ): Promise<AccountView> {
    await this.joins.join(scope, id, accountId);
    return this.accounts.get(scope, id);
  }

  @Get(':accountId/balances')
  @ApiOperation({
    summary: 'List the balances over time',
    description: 'One entry for each change of each type of balance that was seen, the newest first, in pages.',
  })
  @ApiOkResponse({ type: BalanceHistory })
  listBalances(
    @CurrentScope() scope: Scope,
    @Param('accountId', UuidParam) id: string,
    @Query() query: BalanceQuery,
  ): Promise<BalanceHistory> {
    return this.history.list(scope, id, query);
  }
}
