import { Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiAcceptedResponse, ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { PsuHeaders } from '#libs/contract';
import { ForCustomer } from '../auth/access.js';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { ApiPresence, PresentCustomer } from '../auth/presence.js';
import { UuidParam } from '../auth/uuid-param.js';
import { Repeatable } from '../idempotency/idempotency.js';
import { ProgressStreams } from './progress-streams.js';
import { SyncRunView } from './sync-run.dto.js';
import { SyncRequests } from './sync-requests.service.js';

@ApiTags('Connections')
@ForCustomer()
@Controller('v1/connections/:connectionId')
export class SyncRunsController {
  constructor(
    private readonly requests: SyncRequests,
    private readonly streams: ProgressStreams,
  ) {}

  /** Reads the connection now. While a run is under way, that one is answered. */
  @Post('sync')
  @Repeatable()
  @ApiOperation({
    summary: 'Synchronise now',
    description:
      'Asks for a synchronisation that the customer attends: it does not count against the calls that a bank allows without them.',
  })
  @HttpCode(202)
  @ApiPresence()
  @ApiAcceptedResponse({ type: SyncRunView })
  requestSync(
    @CurrentScope() scope: Scope,
    @Param('connectionId', UuidParam) connectionId: string,
    @PresentCustomer() psu: PsuHeaders | undefined,
  ): Promise<SyncRunView> {
    return this.requests.request(scope, connectionId, psu);
  }

  @Get('sync-runs/:runId')
  @ApiOperation({
    summary: 'Read a synchronisation',
    description: 'Its figures; while it runs, its progress.',
  })
  @ApiOkResponse({ type: SyncRunView })
  getSyncRun(
    @CurrentScope() scope: Scope,
    @Param('connectionId', UuidParam) connectionId: string,
    @Param('runId', UuidParam) runId: string,
  ): Promise<SyncRunView> {
    return this.requests.get(scope, { connectionId, runId });
  }

  /** Server-sent events: `progress` at every change, `end` with the last state. Each has a run as its data. */
  @Get('sync-runs/:runId/progress')
  @ApiOperation({
    summary: 'Follow a synchronisation',
    description: 'Server-sent events: the progress as it is made, until the end.',
  })
  @ApiProduces('text/event-stream')
  @ApiOkResponse({ schema: { type: 'string' }, description: 'Events until the run is over.' })
  async followSyncRun(
    @CurrentScope() scope: Scope,
    @Param('connectionId', UuidParam) connectionId: string,
    @Param('runId', UuidParam) runId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.requests.get(scope, { connectionId, runId });
    void reply.type('text/event-stream').header('x-accel-buffering', 'no').send(this.streams.open(run));
  }
}
