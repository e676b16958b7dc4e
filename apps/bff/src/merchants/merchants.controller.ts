import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ForOperator } from '../auth/access.js';
import { CreatedMerchant, MerchantList, NewMerchant } from './merchant.dto.js';
import { MerchantsService } from './merchants.service.js';

@ApiTags('Merchants')
@ForOperator()
@Controller('v1/merchants')
export class MerchantsController {
  constructor(private readonly merchants: MerchantsService) {}

  @Post()
  @ApiCreatedResponse({ type: CreatedMerchant })
  createMerchant(@Body() body: NewMerchant): Promise<CreatedMerchant> {
    return this.merchants.create(body);
  }

  @Get()
  @ApiOkResponse({ type: MerchantList })
  async listMerchants(): Promise<MerchantList> {
    return { data: await this.merchants.list() };
  }
}
