import { Controller, Get, Header, Param, Query, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import {
  Account,
  ApiPsuHeaders,
  ApiSubApplicationHeader,
  Balances,
  envelope,
  EnvelopeOf,
  linksOf,
  ListOf,
  paginationOf,
  readOffsetPage,
  readPsuHeaders,
  Transaction,
  type Envelope,
  type PageQuery,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { CurrentConsent, NeedsConsent } from '../auth/consent.guard.js';
import { Env } from '../config.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { AccountsService } from './accounts.service.js';
import { TransactionsService } from './transactions.service.js';

@ApiTags('Financial Data')
@ApiPsuHeaders()
@ApiSubApplicationHeader()
@ErrorShape('minimal')
@NeedsConsent('read')
@Controller('accounts')
export class FinancialDataController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly transactions: TransactionsService,
    private readonly env: Env,
  ) {}

  @ApiOperation({ operationId: 'getAccounts' })
  @ApiOkResponse({ type: ListOf(Account, 'AccountApiListResponse') })
  @Get()
  async list(@CurrentConsent() consent: ConsentRow, @Req() { headers }: FastifyRequest): Promise<Envelope<Account[]>> {
    return envelope(await this.accounts.list(consent, readPsuHeaders(headers)), { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'getAccount' })
  @ApiOkResponse({ type: EnvelopeOf(Account) })
  @Get(':accountId')
  async get(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<Account>> {
    return envelope(await this.accounts.get(consent, readPsuHeaders(headers), accountId), { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'getAccountBalances' })
  @ApiOkResponse({ type: EnvelopeOf(Balances) })
  @Get(':accountId/balances')
  async balances(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<Balances>> {
    const balances = await this.accounts.balances(consent, readPsuHeaders(headers), accountId);
    return envelope(balances, { tracingId: tracingId() });
  }

  /** The rows arrive as wire text and are spliced into the answer: parsing them to print them again costs four times as much. */
  @ApiOperation({ operationId: 'getTransactions' })
  @ApiQuery({ name: 'from', required: false, schema: { type: 'string', format: 'date-time' } })
  @ApiQuery({ name: 'before', required: false, schema: { type: 'string', format: 'date-time' } })
  @ApiQuery({ name: 'limit', required: false, schema: { type: 'integer', minimum: 1, maximum: 1000, default: 1000 } })
  @ApiQuery({ name: 'sort', required: false, schema: { type: 'string', enum: ['date', '-date'], default: '-date' } })
  @ApiQuery({ name: 'offset', required: false, schema: { type: 'integer', minimum: 0, default: 0 } })
  @ApiOkResponse({ type: ListOf(Transaction) })
  @Header('content-type', 'application/json; charset=utf-8')
  @Get(':accountId/transactions')
  async page(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Query() query: PageQuery,
    @Req() { headers }: FastifyRequest,
  ): Promise<string> {
    const page = readOffsetPage(query);
    const { rows, total } = await this.transactions.page(consent, readPsuHeaders(headers), accountId, page);
    const meta = { tracingId: tracingId(), count: rows.length, pagination: paginationOf(page, total) };
    const url = `${this.env.AGGREGATOR_URL}/accounts/${encodeURIComponent(accountId)}/transactions`;
    return `{"meta":${JSON.stringify(meta)},"data":[${rows.join(',')}],"links":${JSON.stringify(linksOf(url, page))}}`;
  }
}
