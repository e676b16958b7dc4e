import { Body, Controller, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentMerchant } from '../auth/caller.js';
import { ForMerchant } from '../auth/access.js';
import { Repeatable } from '../idempotency/idempotency.js';
import { NewSession, Session } from './session.dto.js';
import { SessionsService } from './sessions.service.js';

@ApiTags('Sessions')
@ForMerchant()
@Controller('v1/sessions')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @Post()
  @Repeatable()
  @ApiOperation({
    summary: 'Open a session',
    description:
      'Gives a bearer token for the frontend of one customer, who becomes known by it. It ends after half an hour; open another one then.',
  })
  @ApiCreatedResponse({ type: Session })
  openSession(@CurrentMerchant() merchantId: string, @Body() body: NewSession): Promise<Session> {
    return this.sessions.open(merchantId, body.customer.reference);
  }
}
