import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiExcludeEndpoint, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { ForCaller, ForCustomer } from '../auth/access.js';
import { UuidParam } from '../auth/uuid-param.js';
import type { CallbackQuery } from '../callbacks/callback-state.js';
import { sendBack } from '../callbacks/return-address.js';
import { AuthorisationService } from './authorisation.service.js';
import { ConnectionList, ConnectionView, InstitutionList, NewConnection } from './connection.dto.js';
import { sentenceOf } from './connection-state.js';
import { ConnectionsService } from './connections.service.js';
import { renewalSentence } from './renewal-state.js';
import { InstitutionsService } from './institutions.service.js';

@ApiTags('Connections')
@Controller('v1')
export class ConnectionsController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly authorisation: AuthorisationService,
    private readonly institutions: InstitutionsService,
  ) {}

  @Get('institutions')
  @ForCaller()
  @ApiOkResponse({ type: InstitutionList })
  async listInstitutions(): Promise<InstitutionList> {
    return { data: await this.institutions.list() };
  }

  @Post('connections')
  @ApiCreatedResponse({ type: ConnectionView })
  @ForCustomer()
  connect(@CurrentScope() scope: Scope, @Body() body: NewConnection): Promise<ConnectionView> {
    return this.connections.connect(scope, body);
  }

  @Get('connections')
  @ApiOkResponse({ type: ConnectionList })
  @ForCustomer()
  async listConnections(@CurrentScope() scope: Scope): Promise<ConnectionList> {
    return { data: await this.connections.list(scope) };
  }

  /** Where the aggregator sends the customer's browser. */
  @Get('connections/callback')
  @ApiExcludeEndpoint()
  async connectionCallback(@Query() query: CallbackQuery, @Res() reply: FastifyReply): Promise<void> {
    const { id, status, returnUrl, renewal } = await this.authorisation.comeBack(query);
    const renewed = renewal && { renewal: renewal.id, 'renewal-status': renewal.status };
    const sentence = renewal ? renewalSentence(renewal.status) : sentenceOf(status);
    sendBack(reply, { returnUrl, told: { connection: id, status, ...renewed }, sentence });
  }

  @Get('connections/:connectionId')
  @ApiOkResponse({ type: ConnectionView })
  @ForCustomer()
  getConnection(@CurrentScope() scope: Scope, @Param('connectionId', UuidParam) id: string): Promise<ConnectionView> {
    return this.connections.get(scope, id);
  }

  @Delete('connections/:connectionId')
  @ApiOkResponse({ type: ConnectionView })
  @ForCustomer()
  revokeConnection(
    @CurrentScope() scope: Scope,
    @Param('connectionId', UuidParam) id: string,
  ): Promise<ConnectionView> {
    return this.connections.revoke(scope, id);
  }
}
