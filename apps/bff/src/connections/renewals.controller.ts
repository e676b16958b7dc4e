import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { PsuHeaders } from '#libs/contract';
import { ForCustomer } from '../auth/access.js';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { ApiPresence, ApiPsuId, PresentCustomer } from '../auth/presence.js';
import { UuidParam } from '../auth/uuid-param.js';
import { Repeatable, WorkId } from '../idempotency/idempotency.js';
import { ListQuery } from '../list.dto.js';
import { ConnectionView } from './connection.dto.js';
import { ConnectionsService } from './connections.service.js';
import { ReconfirmationService } from './reconfirmation.service.js';
import { NewRenewalLink, RenewalLinkView } from './renewal-link.dto.js';
import { RenewalLinks } from './renewal-links.service.js';
import { NewRenewal, RenewalList, RenewalView } from './renewal.dto.js';
import { RenewalsService } from './renewals.service.js';

@ApiTags('Renewals')
@ForCustomer()
@Controller('v1/connections/:connectionId')
export class RenewalsController {
  constructor(
    private readonly renewals: RenewalsService,
    private readonly reconfirmation: ReconfirmationService,
    private readonly connections: ConnectionsService,
    private readonly links: RenewalLinks,
  ) {}

  @Post('renewals')
  @Repeatable()
  @ApiOperation({
    summary: 'Renew before, or after, data stop',
    description:
      'Send the customer to the `authorisationUrl` of the answer. Until they have approved, the connection goes on with the ' +
      'consent that it has; a renewal that is denied, fails or is abandoned changes nothing. Account ids stay.',
  })
  @ApiCreatedResponse({ type: RenewalView })
  @ApiPresence()
  @ApiPsuId()
  beginRenewal(
    @CurrentScope() scope: Scope,
    @Param('connectionId', UuidParam) id: string,
    @PresentCustomer() psu: PsuHeaders | undefined,
    @WorkId() workId: string | undefined,
    @Body() body: NewRenewal,
  ): Promise<RenewalView> {
    return this.renewals.begin(scope, id, { ...body, psu, workId });
  }

  @Post('renewal-links')
  @Repeatable()
  @ApiOperation({
    summary: 'Make a link for an e-mail',
    description:
      'Whoever opens it sees whom it is from and which bank it is about, and goes on to the bank’s page: what a notice to a customer ' +
      'needs. It works once, expires, and says nothing of the customer. Opening it uses nothing up, going on does.',
  })
  @ApiCreatedResponse({ type: RenewalLinkView })
  createRenewalLink(
    @CurrentScope() scope: Scope,
    @Param('connectionId', UuidParam) id: string,
    @WorkId() workId: string | undefined,
    @Body() body: NewRenewalLink,
  ): Promise<RenewalLinkView> {
    return this.links.create(scope, id, { ...body, workId });
  }

  @Get('renewals')
  @ApiOperation({
    summary: 'The attempts to renew, newest first',
    description: 'In pages, each with its state; one that was left unfinished has changed nothing.',
  })
  @ApiOkResponse({ type: RenewalList })
  async listRenewals(
    @CurrentScope() scope: Scope,
    @Param('connectionId', UuidParam) id: string,
    @Query() query: ListQuery,
  ): Promise<RenewalList> {
    await this.connections.get(scope, id);
    return this.renewals.list(scope, id, query);
  }

  @Get('renewals/:renewalId')
  @ApiOperation({
    summary: 'One attempt to renew',
    description: 'Its state, and where to send the customer while they are awaited.',
  })
  @ApiOkResponse({ type: RenewalView })
  getRenewal(
    @CurrentScope() scope: Scope,
    @Param('connectionId', UuidParam) id: string,
    @Param('renewalId', UuidParam) renewalId: string,
  ): Promise<RenewalView> {
    return this.renewals.get(scope, id, renewalId);
  }

  @Post('reconfirmation')
  @Repeatable()
  @HttpCode(200)
  @ApiOperation({
    summary: 'The customer confirms that access may go on',
    description:
      'Where the law lets the customer confirm to you, without the bank (United Kingdom): call it when they have. Elsewhere it ' +
      'is refused with 409: renew instead. If the aggregator does not answer, the confirmation is kept and taken to it later.',
  })
  @ApiOkResponse({ type: ConnectionView })
  async reconfirm(@CurrentScope() scope: Scope, @Param('connectionId', UuidParam) id: string): Promise<ConnectionView> {
    await this.reconfirmation.confirm(scope, id);
    return this.connections.get(scope, id);
  }
}
