import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiExcludeEndpoint, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { PsuHeaders } from '#libs/contract';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { ForCaller, ForCustomer } from '../auth/access.js';
import { ApiPresence, ApiPsuId, PresentCustomer, ReturningCustomer } from '../auth/presence.js';
import { UuidParam } from '../auth/uuid-param.js';
import type { CallbackQuery } from '../callbacks/callback-state.js';
import { sendBack } from '../callbacks/return-address.js';
import { Repeatable, WorkId } from '../idempotency/idempotency.js';
import { ListQuery } from '../list.dto.js';
import { AuthorisationService } from './authorisation.service.js';
import { ConnectionList, ConnectionView, InstitutionList, InstitutionQuery, NewConnection } from './connection.dto.js';
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
  @ApiOperation({
    summary: 'List the institutions',
    description:
      'Where a customer may connect an account, with logos and features, by name and in pages; by a part of the name, by country and by features.',
  })
  @ForCaller()
  @ApiOkResponse({ type: InstitutionList })
  listInstitutions(@Query() query: InstitutionQuery): Promise<InstitutionList> {
    return this.institutions.search(query);
  }

  @Post('connections')
  @Repeatable()
  @ApiOperation({
    summary: 'Connect an institution',
    description:
      'Asks for the customer’s consent. Send the customer to the `authorisationUrl`; they come back to `returnUrl`, and the first synchronisation begins.',
  })
  @ApiCreatedResponse({ type: ConnectionView })
  @ApiPresence()
  @ApiPsuId()
  @ForCustomer()
  connect(
    @CurrentScope() scope: Scope,
    @PresentCustomer() psu: PsuHeaders | undefined,
    @WorkId() workId: string | undefined,
    @Body() body: NewConnection,
  ): Promise<ConnectionView> {
    return this.connections.connect(scope, { ...body, psu, workId });
  }

  @Get('connections')
  @ApiOperation({
    summary: 'List the connections',
    description: 'The newest first, in pages, each with its state, its health and its last synchronisation.',
  })
  @ApiOkResponse({ type: ConnectionList })
  @ForCustomer()
  listConnections(@CurrentScope() scope: Scope, @Query() query: ListQuery): Promise<ConnectionList> {
    return this.connections.list(scope, query);
  }

  /** Where the aggregator sends the customer's browser. */
  @Get('connections/callback')
  @ApiExcludeEndpoint()
  async connectionCallback(
    @Query() query: CallbackQuery,
    @ReturningCustomer() psu: PsuHeaders | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { id, status, returnUrl, renewal } = await this.authorisation.comeBack(query, psu);
    const renewed = renewal && { renewal: renewal.id, 'renewal-status': renewal.status };
    const sentence = renewal ? renewalSentence(renewal.status) : sentenceOf(status);
    sendBack(reply, { returnUrl, told: { connection: id, status, ...renewed }, sentence });
  }

  @Get('connections/:connectionId')
  @ApiOperation({
    summary: 'Read a connection',
    description: 'Its state and why it is so, and the progress of its synchronisation.',
  })
  @ApiOkResponse({ type: ConnectionView })
  @ForCustomer()
  getConnection(@CurrentScope() scope: Scope, @Param('connectionId', UuidParam) id: string): Promise<ConnectionView> {
    return this.connections.get(scope, id);
  }

  @Delete('connections/:connectionId')
  @ApiOperation({
    summary: 'Revoke a connection',
    description: 'Withdraws the consent at the institution. What was synced stays until the customer is deleted.',
  })
  @ApiOkResponse({ type: ConnectionView })
  @ForCustomer()
  revokeConnection(
    @CurrentScope() scope: Scope,
    @Param('connectionId', UuidParam) id: string,
  ): Promise<ConnectionView> {
    return this.connections.revoke(scope, id);
  }
}
