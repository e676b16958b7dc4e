import { Controller, Get, Query, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentMerchant } from '../auth/caller.js';
import { MerchantGuard } from '../auth/guards.js';
import { EventPage, EventsQuery } from './event.dto.js';
import { EventsService } from './events.service.js';

@ApiTags('Events')
@ApiBearerAuth()
@UseGuards(MerchantGuard)
@Controller('v1/events')
export class EventsController {
  constructor(private readonly events: EventsService) {}

  @Get()
  @ApiOkResponse({ type: EventPage })
  listEvents(@CurrentMerchant() merchantId: string, @Query() query: EventsQuery): Promise<EventPage> {
    return this.events.list(merchantId, query);
  }
}
