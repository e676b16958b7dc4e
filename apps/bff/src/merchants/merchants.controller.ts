import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ForOperator } from '../auth/access.js';
import { UuidParam } from '../auth/uuid-param.js';
import { Repeatable, WorkId } from '../idempotency/idempotency.js';
import { ListQuery } from '../list.dto.js';
import { CreatedApiKey } from './api-key.dto.js';
import { ApiKeysService } from './api-keys.service.js';
import { CreatedMerchant, MerchantList, MerchantView, NewMerchant } from './merchant.dto.js';
import { MerchantsService } from './merchants.service.js';

@ApiTags('Merchants')
@ForOperator()
@Controller('v1/merchants')
export class MerchantsController {
  constructor(
    private readonly merchants: MerchantsService,
    private readonly keys: ApiKeysService,
  ) {}

  @Post()
  @Repeatable()
  @ApiOperation({
    summary: 'Create a merchant',
    description:
      'Makes the merchant, its sub-application at the aggregator with its webhook, and its first API key, which is shown once.',
  })
  @ApiCreatedResponse({ type: CreatedMerchant })
  createMerchant(@WorkId() workId: string | undefined, @Body() body: NewMerchant): Promise<CreatedMerchant> {
    return this.merchants.create(body, workId);
  }

  @Get()
  @ApiOperation({ summary: 'List the merchants', description: 'The oldest first, in pages.' })
  @ApiOkResponse({ type: MerchantList })
  listMerchants(@Query() query: ListQuery): Promise<MerchantList> {
    return this.merchants.list(query);
  }

  @Get(':merchantId')
  @ApiOperation({ summary: 'Read a merchant', description: 'Its state, and its sub-application at the aggregator.' })
  @ApiOkResponse({ type: MerchantView })
  getMerchant(@Param('merchantId', UuidParam) id: string): Promise<MerchantView> {
    return this.merchants.get(id);
  }

  @Post(':merchantId/api-keys')
  @Repeatable()
  @ApiOperation({
    summary: 'Create an API key for a merchant',
    description: 'For a merchant that has lost its own. The key is shown once.',
  })
  @ApiCreatedResponse({ type: CreatedApiKey })
  async createMerchantApiKey(
    @Param('merchantId', UuidParam) id: string,
    @WorkId() workId: string | undefined,
  ): Promise<CreatedApiKey> {
    const { id: merchantId } = await this.merchants.get(id);
    return this.keys.create({ merchantId }, { workId });
  }
}
