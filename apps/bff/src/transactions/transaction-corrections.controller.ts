import { Body, Controller, Delete, Get, Header, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ForCustomer } from '../auth/access.js';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { UuidParam } from '../auth/uuid-param.js';
import { JoinTransaction, SplitTransactions, TransactionFlag } from './transaction-corrections.dto.js';
import { TransactionCorrections } from './transaction-corrections.service.js';
import { TransactionView } from './transaction.dto.js';

const json = 'application/json; charset=utf-8';

@ApiTags('Transactions')
@ForCustomer()
@Controller('v1/transactions/:transactionId')
export class TransactionCorrectionsController {
  constructor(private readonly corrections: TransactionCorrections) {}

  @Post('join')
  @HttpCode(200)
  @Header('content-type', json)
  @ApiOperation({
    summary: 'Two transactions are one',
    description:
      'The one in the path stays, booked if either is; the other is removed. What the bank goes on saying of either is taken for the one that stays.',
  })
  @ApiOkResponse({ type: TransactionView })
  joinTransaction(
    @CurrentScope() scope: Scope,
    @Param('transactionId', UuidParam) id: string,
    @Body() { transactionId }: JoinTransaction,
  ): Promise<string> {
    return this.corrections.join(scope, id, transactionId);
  }

  @Post('split')
  @Header('content-type', json)
  @ApiOperation({
    summary: 'One transaction is two',
    description:
      'Undoes the last join of the transaction; without one, the link of a pending row to its booking: the transaction is what it was before, and the booking one of its own.',
  })
  @ApiCreatedResponse({ type: SplitTransactions })
  splitTransaction(@CurrentScope() scope: Scope, @Param('transactionId', UuidParam) id: string): Promise<string> {
    return this.corrections.split(scope, id);
  }

  @Get('flag')
  @Header('content-type', json)
  @ApiOperation({
    summary: 'Read the flag of a transaction',
    description: 'What is not sure about it, with those it may be. 404 where nothing is in doubt.',
  })
  @ApiOkResponse({ type: TransactionFlag })
  getFlag(@CurrentScope() scope: Scope, @Param('transactionId', UuidParam) id: string): Promise<string> {
    return this.corrections.flagOf(scope, id);
  }

  @Delete('flag')
  @Header('content-type', json)
  @ApiOperation({
    summary: 'Dismiss the flag of a transaction',
    description: 'It is right as it is. The same doubt is not raised again until the bank says something else of it.',
  })
  @ApiOkResponse({ type: TransactionView })
  dismissFlag(@CurrentScope() scope: Scope, @Param('transactionId', UuidParam) id: string): Promise<string> {
    return this.corrections.dismiss(scope, id);
  }
}
