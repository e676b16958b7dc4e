import { Controller, Get, Header, Param, Query, Req, StreamableFile } from '@nestjs/common';
import { ApiDefaultResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import {
  AccountStatement,
  ApiResponseError,
  ApiSubApplicationHeader,
  envelope,
  EnvelopeOf,
  ListOf,
  readOffsetPage,
  readPsuHeaders,
  statementParameters,
  type Envelope,
  type PageQuery,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { CurrentConsent, NeedsConsent } from '../auth/consent.guard.js';
import { Env } from '../config.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { ApiOffsetQuery, pageText } from './page-text.js';
import { StatementsService } from './statements.service.js';

@ApiTags('Financial Data')
@ApiSubApplicationHeader()
@ApiDefaultResponse({ type: ApiResponseError })
@ErrorShape('minimal')
@NeedsConsent('read')
@Controller('accounts/:accountId/statements')
export class StatementsController {
  constructor(
    private readonly statements: StatementsService,
    private readonly env: Env,
  ) {}

  @ApiOperation({ operationId: 'getStatements' })
  @ApiOffsetQuery()
  @ApiOkResponse({ type: ListOf(AccountStatement) })
  @Header('content-type', 'application/json; charset=utf-8')
  @Get()
  async page(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Query() query: PageQuery,
    @Req() { headers }: FastifyRequest,
  ): Promise<string> {
    const page = readOffsetPage(query);
    const found = await this.statements.page(consent, readPsuHeaders(headers), accountId, page);
    const url = `${this.env.AGGREGATOR_URL}/accounts/${encodeURIComponent(accountId)}/statements`;
    return pageText(found, page, { url, parameters: statementParameters });
  }

  @ApiOperation({ operationId: 'getStatement' })
  @ApiOkResponse({ type: EnvelopeOf(AccountStatement) })
  @Get(':statementId')
  async get(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Param('statementId') statementId: string,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<AccountStatement>> {
    const statement = await this.statements.get(consent, readPsuHeaders(headers), { accountId, statementId });
    return envelope(statement, { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'getStatementFile' })
  @ApiOkResponse({ content: { 'application/pdf': { schema: { type: 'string', format: 'binary' } } } })
  @Get(':statementId/file')
  async file(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Param('statementId') statementId: string,
    @Req() { headers }: FastifyRequest,
  ): Promise<StreamableFile> {
    const { body } = await this.statements.file(consent, readPsuHeaders(headers), { accountId, statementId });
    return new StreamableFile(body, { type: 'application/pdf', length: body.length });
  }
}
