import { Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { problems } from '#libs/contract';
import { ForCaller } from '../auth/access.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { UuidParam } from '../auth/uuid-param.js';
import { EventFilter, EventPage, EventsQuery, EventView } from './event.dto.js';
import { EventStreams } from './event-streams.js';
import type { EventSelection } from './events.queries.js';
import { EventsService } from './events.service.js';

const streamExample =
  'retry: 2000\n\nid: 42\ndata: {"id":"0b7e…","sequence":42,"type":"payment.completed","data":{}}\n\n';

const streamHeaders = {
  'content-type': 'text/event-stream',
  // A server that closes would otherwise wait for the connection that is left idle.
  connection: 'close',
  // Nginx would otherwise keep events back until its buffer is full.
  'x-accel-buffering': 'no',
};

@ApiTags('Events')
@ForCaller()
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly events: EventsService,
    private readonly streams: EventStreams,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'Pull events in their order',
    description:
      'Events are kept for 30 days or longer, as the operator has set it. A customer’s session sees that customer’s events.',
  })
  @ApiOkResponse({ type: EventPage })
  listEvents(@CurrentCaller() caller: Caller, @Query() { limit, ...filter }: EventsQuery): Promise<EventPage> {
    return this.events.list(selectionOf(caller, filter), limit);
  }

  @Get('stream')
  @ApiOperation({
    summary: 'Events as they happen',
    description:
      'Server-sent events: each has its sequence as id and the event as data. It begins like a pull and goes on; after ten minutes it ' +
      'ends, and a reader comes back with `Last-Event-ID`. Read it with fetch, because the token is a header.',
  })
  @ApiHeader({ name: 'last-event-id', required: false, description: 'The last id that was read; wins over `after`.' })
  @ApiOkResponse({
    description: 'The stream',
    content: { 'text/event-stream': { schema: { type: 'string' }, example: streamExample } },
  })
  async streamEvents(
    @CurrentCaller() caller: Caller,
    @Query() filter: EventFilter,
    @Headers('last-event-id') lastId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const selection = selectionOf(caller, { ...filter, ...placeOf(lastId) });
    const leaving = new AbortController();
    reply.raw.once('close', () => leaving.abort());
    if (reply.raw.destroyed) return;
    const stream = await this.streams.start(selection, leaving);
    void reply.headers(streamHeaders).send(stream);
  }

  @Get(':id')
  @ApiOperation({
    summary: 'Read an event',
    description: 'One entry of the log by its id.',
  })
  @ApiOkResponse({ type: EventView })
  getEvent(@CurrentCaller() caller: Caller, @Param('id', UuidParam) id: string): Promise<EventView> {
    return this.events.get(selectionOf(caller, {}), id);
  }
}

/** A session is kept to its own customer, whatever it asks for. */
function selectionOf(caller: Caller, { after, types, customerId }: EventFilter): EventSelection {
  const { merchantId } = caller;
  return { merchantId, after, types, customerId: caller.kind === 'session' ? caller.customerId : customerId };
}

function placeOf(lastId: string | undefined): { after?: number } {
  if (lastId === undefined || lastId === '') return {};
  if (!/^\d{1,15}$/.test(lastId))
    throw problems.unexpectedValue({
      parameter: 'last-event-id',
      message: 'last-event-id must be the sequence of an event',
    });
  return { after: Number(lastId) };
}
