import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentMerchant } from '../auth/caller.js';
import { ForMerchant } from '../auth/access.js';
import { EventPage, EventsQuery } from './event.dto.js';
import { EventsService } from './events.service.js';

@ApiTags('Events')
@ForMerchant()
@Controller('v1/events')
export class EventsController {
  constructor(private readonly events: EventsService) {}

  @Get()
  @ApiOkResponse({ type: EventPage })
  listEvents(@CurrentMerchant() merchantId: string, @Query() query: EventsQuery): Promise<EventPage> {
    return this.events.list(merchantId, query);
  }
}
