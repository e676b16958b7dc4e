import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import {
  ApiDefaultResponse,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import {
  ApiListResponseOfRealTimeTransaction,
  ApiPsuHeaders,
  ApiResponseError,
  ApiSubApplicationHeader,
  readPsuHeaders,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { CurrentConsent, NeedsConsent } from '../auth/consent.guard.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { RealTimeService, type RealTimeQuery } from './real-time.service.js';

@ApiTags('Financial Data')
@ApiPsuHeaders()
@ApiSubApplicationHeader()
@ApiUnauthorizedResponse({ type: ApiResponseError })
@ApiDefaultResponse({ type: ApiResponseError })
@ErrorShape('standard')
@NeedsConsent('read')
@Controller('accounts/:accountId/real-time/transactions')
export class RealTimeController {
  constructor(private readonly realTime: RealTimeService) {}

  @ApiOperation({ operationId: 'getRealTimeTransactions' })
  @ApiQuery({ name: 'from', required: false, schema: { type: 'string' } })
  @ApiQuery({ name: 'before', required: false, schema: { type: 'string' } })
  @ApiQuery({ name: 'cursor', required: false, schema: { type: 'string' } })
  @ApiOkResponse({ type: ApiListResponseOfRealTimeTransaction })
  @Get()
  async page(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Query() query: RealTimeQuery,
    @Req() { headers }: FastifyRequest,
  ): Promise<ApiListResponseOfRealTimeTransaction> {
    const { rows, links } = await this.realTime.page(consent, readPsuHeaders(headers), { accountId, query });
    return { meta: { tracingId: tracingId(), count: rows.length }, data: rows, links };
  }
}
