import { Controller, Get, Header, Param, Query, Req } from '@nestjs/common';
import { ApiDefaultResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import {
  Account,
  ApiPsuHeaders,
  ApiResponseError,
  ApiSubApplicationHeader,
  type ApiVersion,
  ApiVersionHeader,
  ApiWithQuery,
  Balances,
  envelope,
  EnvelopeOf,
  ListOf,
  readBoth,
  readOffsetPage,
  readPsuHeaders,
  readWith,
  Transaction,
  transactionParameters,
  type Envelope,
  type PageQuery,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { CurrentVersion } from '../auth/api-version.guard.js';
import { CurrentConsent, NeedsConsent } from '../auth/consent.guard.js';
import { Env } from '../config.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { AccountsService } from './accounts.service.js';
import { ApiOffsetQuery, pageText } from './page-text.js';
import { TransactionsService } from './transactions.service.js';

@ApiTags('Financial Data')
@ApiPsuHeaders()
@ApiSubApplicationHeader()
@ApiDefaultResponse({ type: ApiResponseError })
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

  /** Version 2 does not filter yet: of the query it reads `offset` and `with` (interface, part 9). */
  @ApiOperation({ operationId: 'getTransactions' })
  @ApiOffsetQuery()
  @ApiWithQuery()
  @ApiVersionHeader()
  @ApiOkResponse({ type: ListOf(Transaction) })
  @Header('content-type', 'application/json; charset=utf-8')
  @Get(':accountId/transactions')
  async page(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Query() query: PageQuery & { with?: unknown },
    @CurrentVersion() version: ApiVersion,
    @Req() { headers }: FastifyRequest,
  ): Promise<string> {
    const [page, details] = readBoth(
      () => readOffsetPage(version === '1.0' ? query : { offset: query.offset }),
      () => readWith(query.with),
    );
    const asked = { accountId, page, details };
    const found = await this.transactions.page(consent, readPsuHeaders(headers), asked);
    const url = `${this.env.AGGREGATOR_URL}/accounts/${encodeURIComponent(accountId)}/transactions`;
    return pageText(found, page, { url, parameters: transactionParameters });
  }
}
