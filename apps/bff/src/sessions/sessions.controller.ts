import { Body, Controller, Post, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { CurrentMerchant } from '../auth/caller.js';
import { MerchantGuard } from '../auth/guards.js';
import { NewSession, Session } from './session.dto.js';
import { SessionsService } from './sessions.service.js';

@ApiTags('Sessions')
@ApiBearerAuth()
@UseGuards(MerchantGuard)
@Controller('v1/sessions')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @Post()
  @ApiCreatedResponse({ type: Session })
  openSession(@CurrentMerchant() merchantId: string, @Body() body: NewSession): Promise<Session> {
    return this.sessions.open(merchantId, body.customer.reference);
  }
}
