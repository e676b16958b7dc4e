import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { Problem, problems } from '#libs/contract';
import { POOL } from '#libs/database';
import type { EventPage, EventView } from './event.dto.js';
import { type EventRow, type EventSelection, readEvents, toView } from './events.queries.js';

/** The merchant's event log, to be pulled from any place in it that is still kept. */
@Injectable()
export class EventsService {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  async list(selection: EventSelection, limit = 100): Promise<EventPage> {
    const { events, head, sweptTo } = await readEvents(this.pool, selection, limit + 1);
    const { after } = selection;
    if (after !== undefined && after < sweptTo) throw noLongerKept(sweptTo);
    const data = events.slice(0, limit);
    const hasMore = events.length > limit;
    const last = data.at(-1)?.sequence;
    // Whatever is not there up to the head does not match, so it need not be looked at again.
    const nextAfter = hasMore && last !== undefined ? last : Math.max(after ?? 0, head);
    return { data, nextAfter, hasMore };
  }

  async get({ merchantId, customerId }: EventSelection, id: string): Promise<EventView> {
    const { rows } = await this.pool.query<EventRow>(
      `select id, sequence, type, customer_id, data, created_at from events
       where id = $1 and merchant_id = $2 and ($3::uuid is null or customer_id = $3)`,
      [id, merchantId, customerId ?? null],
    );
    if (!rows[0]) throw problems.notFound({ message: 'The event is not known, or no longer kept' });
    return toView(rows[0]);
  }
}

/** 410: what was asked for existed and is past its retention; tells where the log begins now. */
export function noLongerKept(sweptTo: number): Problem {
  const message = `Events up to ${sweptTo} are no longer kept: read the resources anew and go on with after=${sweptTo}`;
  return new Problem({
    status: 410,
    issues: [{ type: 'INVALID_REQUEST', code: 'EVENTS_NO_LONGER_KEPT', parameter: 'after', message }],
  });
}
