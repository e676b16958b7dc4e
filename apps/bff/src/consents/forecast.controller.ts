import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Pool } from 'pg';
import { parseDateTime, problems } from '#libs/contract';
import { POOL } from '#libs/database';
import { now } from '#libs/server';
import { CurrentMerchant, CurrentScope, type Scope } from '../auth/caller.js';
import { ForCustomer, ForMerchant } from '../auth/access.js';
import { UuidParam } from '../auth/uuid-param.js';
import { dayMs } from './consent-clocks.js';
import { ConnectionForecast, ForecastPage, ForecastQuery } from './forecast.dto.js';
import { selectForecast, selectForecasts } from './forecast.queries.js';

const reachDays = 30;

@ApiTags('Forecast')
@Controller('v1')
export class ForecastController {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  @Get('forecast')
  @ApiOperation({
    summary: 'What will stop, of all customers',
    description:
      'For a merchant’s backend: connections whose data stop before an instant, and those that have stopped.',
  })
  @ApiOkResponse({ type: ForecastPage })
  @ForMerchant()
  listForecasts(@CurrentMerchant() merchantId: string, @Query() query: ForecastQuery): Promise<ForecastPage> {
    const { before: text, cursor, limit = 100 } = query;
    const before = text === undefined ? new Date(now().getTime() + reachDays * dayMs) : parseDateTime(text);
    if (before === undefined) throw problems.unexpectedValue({ parameter: 'before' });
    return selectForecasts(this.pool, { merchantId, before, cursor, limit });
  }

  @Get('connections/:connectionId/forecast')
  @ApiOperation({
    summary: 'What will stop, of one connection',
    description: 'Which data will stop, when and why over the consent’s three clocks, and what is to be done about it.',
  })
  @ApiOkResponse({ type: ConnectionForecast })
  @ForCustomer()
  async getForecast(
    @CurrentScope() { customerId }: Scope,
    @Param('connectionId', UuidParam) id: string,
  ): Promise<ConnectionForecast> {
    const found = await selectForecast(this.pool, { customerId, id });
    if (!found) throw problems.notFound({ message: 'The connection is not known' });
    return found;
  }
}
