import type { Readable } from 'node:stream';
import { Controller, Get, Header, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { ForCustomer } from '../auth/access.js';
import { UuidParam } from '../auth/uuid-param.js';
import {
  ChangesQuery,
  ExportFormat,
  ExportQuery,
  TransactionChanges,
  TransactionPage,
  TransactionQuery,
  TransactionView,
} from './transaction.dto.js';
import { csvHeader } from './csv.js';
import { TransactionExportService } from './transaction-export.service.js';
import { TransactionsService } from './transactions.service.js';

const json = 'application/json; charset=utf-8';
const types: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
};
const exported = {
  'text/csv': {
    schema: { type: 'string' },
    example: `${csvHeader}6f1c…,0a2b…,2026-03-01T00:00:00.000Z,,,BOOKED,-3.2,GBP,Coffee,b-1\r\n`,
  },
  'application/x-ndjson': { schema: { type: 'string' }, example: '{"id":"6f1c…","amount":-3.2,"currency":"GBP"}\n' },
};

function sendExport(reply: FastifyReply, stream: Readable, format: ExportFormat = ExportFormat.csv): FastifyReply {
  reply.header('content-disposition', `attachment; filename="transactions.${format}"`);
  return reply.type(types[format]).send(stream);
}

@ApiTags('Transactions')
@ForCustomer()
@Controller('v1')
export class TransactionsController {
  constructor(
    private readonly transactions: TransactionsService,
    private readonly exports: TransactionExportService,
  ) {}

  @Get('transactions')
  @ApiOperation({
    summary: 'List the transactions',
    description: 'Of all accounts, the newest first, in pages. Filters hold together; a cursor belongs to its filters.',
  })
  @Header('content-type', json)
  @ApiOkResponse({ type: TransactionPage })
  listTransactions(@CurrentScope() scope: Scope, @Query() query: TransactionQuery): Promise<string> {
    return this.transactions.list(scope, query);
  }

  @Get('accounts/:accountId/transactions')
  @ApiOperation({
    summary: 'List the transactions of an account',
    description: 'As the list of all, of one account.',
  })
  @Header('content-type', json)
  @ApiOkResponse({ type: TransactionPage })
  listTransactionsOfAccount(
    @CurrentScope() scope: Scope,
    @Param('accountId', UuidParam) accountId: string,
    @Query() query: TransactionQuery,
  ): Promise<string> {
    return this.transactions.listOfAccount(scope, accountId, query);
  }

  @Get('transactions/export')
  @ApiOperation({
    summary: 'Export the transactions',
    description:
      'As one stream, the newest first: CSV (RFC 4180) with the main columns, or one JSON object a line as the list has it. In CSV a ' +
      'foreign text that a spreadsheet would take for a formula begins with an apostrophe. An export that breaks off has no end: ' +
      'the connection is closed before it.',
  })
  @ApiOkResponse({ content: exported, description: 'The stream' })
  exportTransactions(
    @CurrentScope() scope: Scope,
    @Query() query: ExportQuery,
    @Res() reply: FastifyReply,
  ): FastifyReply {
    return sendExport(reply, this.exports.start(scope, query), query.format);
  }

  @Get('accounts/:accountId/transactions/export')
  @ApiOperation({
    summary: 'Export the transactions of an account',
    description: 'As the export of all, of one account.',
  })
  @ApiOkResponse({ content: exported, description: 'The stream' })
  async exportTransactionsOfAccount(
    @CurrentScope() scope: Scope,
    @Param('accountId', UuidParam) accountId: string,
    @Query() query: ExportQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.transactions.assertOwn(scope, accountId);
    sendExport(reply, this.exports.start(scope, query, accountId), query.format);
  }

  @Get('transactions/sync')
  @ApiOperation({
    summary: 'Follow the changes',
    description:
      'What was added, modified and removed since the cursor. Begin without one, apply every page, keep `nextCursor` for the next call: ' +
      'whoever applies all pages in order has what is stored. Where two accounts have become one, transactions are modified: they ' +
      'have another `accountId`.',
  })
  @Header('content-type', json)
  @ApiOkResponse({ type: TransactionChanges })
  listTransactionChanges(@CurrentScope() scope: Scope, @Query() query: ChangesQuery): Promise<string> {
    return this.transactions.changes(scope, query);
  }

  @Get('transactions/:transactionId')
  @ApiOperation({
    summary: 'Read a transaction',
    description: 'As it is now. 404 once it is removed: what it was joined into has an id of its own.',
  })
  @Header('content-type', json)
  @ApiOkResponse({ type: TransactionView })
  getTransaction(@CurrentScope() scope: Scope, @Param('transactionId', UuidParam) id: string): Promise<string> {
    return this.transactions.get(scope, id);
  }
}
