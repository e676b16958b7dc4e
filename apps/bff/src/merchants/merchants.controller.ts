import { Body, Controller, Get, Post, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { OperatorGuard } from '../auth/guards.js';
import { CreatedMerchant, MerchantView, NewMerchant } from './merchant.dto.js';
import { MerchantsService } from './merchants.service.js';

@ApiTags('Merchants')
@ApiBearerAuth()
@UseGuards(OperatorGuard)
@Controller('v1/merchants')
export class MerchantsController {
  constructor(private readonly merchants: MerchantsService) {}

  @Post()
  createMerchant(@Body() body: NewMerchant): Promise<CreatedMerchant> {
    return this.merchants.create(body);
  }

  @Get()
  async listMerchants(): Promise<{ data: MerchantView[] }> {
    return { data: await this.merchants.list() };
  }
}
