import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ForMerchant } from '../auth/access.js';
import { CurrentMerchant } from '../auth/caller.js';
import { UuidParam } from '../auth/uuid-param.js';
import { Repeatable } from '../idempotency/idempotency.js';
import { EventReplay, RangeReplay, ReplayView } from './replay.dto.js';
import { ReplayService } from './replay.service.js';

@ApiTags('Webhooks')
@ForMerchant()
@Controller('v1/events')
export class ReplayController {
  constructor(private readonly replays: ReplayService) {}

  @Post('replay')
  @Repeatable()
  @HttpCode(202)
  @ApiOperation({
    summary: 'Send the events of a range again, each under its own id and signed anew',
    description: 'To the endpoints that are in use now and want such events.',
  })
  @ApiAcceptedResponse({ type: ReplayView })
  replayEvents(@CurrentMerchant() merchantId: string, @Body() body: RangeReplay): Promise<ReplayView> {
    return this.replays.range(merchantId, body);
  }

  @Post(':id/replay')
  @Repeatable()
  @HttpCode(202)
  @ApiOperation({
    summary: 'Send one event again, under its own id and signed anew',
    description: 'To the endpoints that are in use now and want such events.',
  })
  @ApiAcceptedResponse({ type: ReplayView })
  replayEvent(
    @CurrentMerchant() merchantId: string,
    @Param('id', UuidParam) id: string,
    @Body() { endpointId }: EventReplay,
  ): Promise<ReplayView> {
    return this.replays.one(merchantId, id, endpointId);
  }
}
