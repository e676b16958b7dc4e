import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ForMerchant } from '../auth/access.js';
import { CurrentMerchant } from '../auth/caller.js';
import { UuidParam } from '../auth/uuid-param.js';
import { ListQuery } from '../list.dto.js';
import { DeletionPage, DeletionView } from './deletion.dto.js';
import { DeletionsService } from './deletions.service.js';

@ApiTags('Customers')
@ForMerchant()
@Controller('v1/deletions')
export class DeletionsController {
  constructor(private readonly deletions: DeletionsService) {}

  @Get()
  @ApiOperation({ summary: 'List the deletions of customers', description: 'The newest first, in pages.' })
  @ApiOkResponse({ type: DeletionPage })
  listDeletions(@CurrentMerchant() merchantId: string, @Query() query: ListQuery): Promise<DeletionPage> {
    return this.deletions.list(merchantId, query);
  }

  @Get(':deletionId')
  @ApiOperation({
    summary: 'Read the deletion of a customer: how far it is, and afterwards the proof of it',
    description:
      'Whether each bank has confirmed the end of the consent, and how much was deleted. It names nobody: keep its id, which the ' +
      'deletion has answered as `deletionId`, if you want to know whose it was.',
  })
  @ApiOkResponse({ type: DeletionView })
  getDeletion(
    @CurrentMerchant() merchantId: string,
    @Param('deletionId', UuidParam) id: string,
  ): Promise<DeletionView> {
    return this.deletions.get(merchantId, id);
  }
}
