import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { ForCustomer } from '../auth/access.js';
import { UuidParam } from '../auth/uuid-param.js';
import { AccountList, AccountView } from './account.dto.js';
import { AccountsService } from './accounts.service.js';

@ApiTags('Accounts')
@ForCustomer()
@Controller('v1/accounts')
export class AccountsController {
  constructor(private readonly accounts: AccountsService) {}

  @Get()
  @ApiOkResponse({ type: AccountList })
  async listAccounts(@CurrentScope() scope: Scope): Promise<AccountList> {
    return { data: await this.accounts.list(scope) };
  }

  @Get(':accountId')
  @ApiOkResponse({ type: AccountView })
  getAccount(@CurrentScope() scope: Scope, @Param('accountId', UuidParam) id: string): Promise<AccountView> {
    return this.accounts.get(scope, id);
  }
}
