import { Body, Controller, Delete, Get, Param, Post, Query, Res, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiExcludeEndpoint, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { CustomerGuard } from '../auth/guards.js';
import { UuidParam } from '../auth/uuid-param.js';
import type { CallbackQuery } from '../callbacks/callback-state.js';
import { sendBack } from '../callbacks/return-address.js';
import { AuthorisationService } from './authorisation.service.js';
import { ConnectionList, ConnectionView, InstitutionList, NewConnection } from './connection.dto.js';
import { sentenceOf } from './connection-state.js';
import { ConnectionsService } from './connections.service.js';
import { InstitutionsService } from './institutions.service.js';

@ApiTags('Connections')
@ApiBearerAuth()
@Controller('v1')
export class ConnectionsController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly authorisation: AuthorisationService,
    private readonly institutions: InstitutionsService,
  ) {}

  @Get('institutions')
  @UseGuards(CustomerGuard)
  @ApiOkResponse({ type: InstitutionList })
  async listInstitutions(): Promise<InstitutionList> {
    return { data: await this.institutions.list() };
  }

  @Post('connections')
  @UseGuards(CustomerGuard)
  connect(@CurrentScope() scope: Scope, @Body() body: NewConnection): Promise<ConnectionView> {
    return this.connections.connect(scope, body);
  }

  @Get('connections')
  @UseGuards(CustomerGuard)
  async listConnections(@CurrentScope() scope: Scope): Promise<ConnectionList> {
    return { data: await this.connections.list(scope) };
  }

  /** Where the aggregator sends the customer's browser. */
  @Get('connections/callback')
  @ApiExcludeEndpoint()
  async connectionCallback(@Query() query: CallbackQuery, @Res() reply: FastifyReply): Promise<void> {
    const { id, status, returnUrl } = await this.authorisation.comeBack(query);
    sendBack(reply, { returnUrl, told: { connection: id, status }, sentence: sentenceOf(status) });
  }

  @Get('connections/:connectionId')
  @UseGuards(CustomerGuard)
  getConnection(@CurrentScope() scope: Scope, @Param('connectionId', UuidParam) id: string): Promise<ConnectionView> {
    return this.connections.get(scope, id);
  }

  @Delete('connections/:connectionId')
  @UseGuards(CustomerGuard)
  revokeConnection(
    @CurrentScope() scope: Scope,
    @Param('connectionId', UuidParam) id: string,
  ): Promise<ConnectionView> {
    return this.connections.revoke(scope, id);
  }
}
