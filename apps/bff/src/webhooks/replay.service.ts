import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems } from '#libs/contract';
import { POOL } from '#libs/database';
import { now } from '#libs/server';
import { noLongerKept } from '../events/events.service.js';
import { readEvents } from '../events/events.queries.js';
import { DeliveryStatus } from './delivery-state.js';
import { EndpointsService } from './endpoints.service.js';
import { EndpointStatus } from './endpoint-state.js';
import type { RangeReplay, ReplayView } from './replay.dto.js';

const eventsMax = 10_000;

type Chosen = RangeReplay & { eventId?: string };

/** Sends events again: under their own id, with the secrets of now. */
@Injectable()
export class ReplayService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly endpoints: EndpointsService,
  ) {}

  async one(merchantId: string, eventId: string, endpointId: string | undefined): Promise<ReplayView> {
    const replayed = await this.replay(merchantId, { eventId, ...(endpointId === undefined ? {} : { endpointId }) });
    if (replayed.events === 0) throw problems.notFound({ message: 'The event is not known, or no longer kept' });
    return replayed;
  }

  async range(merchantId: string, range: RangeReplay): Promise<ReplayView> {
    if (range.after === undefined && range.from === undefined)
      throw problems.unexpectedValue({ parameter: '$.after', message: 'after or from is needed' });
    const { sweptTo } = await readEvents(this.pool, { merchantId }, 0);
    if (range.after !== undefined && range.after < sweptTo) throw noLongerKept(sweptTo);
    return this.replay(merchantId, range);
  }

  /** A delivery that is finished begins anew, one that never was is made, and one that is under way stays as it is. */
  private async replay(merchantId: string, chosen: Chosen): Promise<ReplayView> {
    if (chosen.endpointId !== undefined) await this.endpoints.enabled(merchantId, chosen.endpointId);
    const { rows } = await this.pool.query<{ events: string; deliveries: string; last: string | null }>(
      `with chosen as (
         select id, sequence, type from events
         where merchant_id = $1 and ($2::uuid is null or id = $2) and ($3::bigint is null or sequence > $3)
           and ($4::bigint is null or sequence <= $4) and ($5::timestamptz is null or created_at >= $5)
           and ($6::timestamptz is null or created_at < $6) and ($7::text[] is null or type = any ($7))
         order by sequence limit $8),
       queued as (
         insert into webhook_deliveries (id, merchant_id, endpoint_id, event_id, status, attempts, next_attempt_at, created_at)
         select gen_random_uuid(), $1, e.id, chosen.id, $9, 0, $10, $10 from chosen join webhook_endpoints e
           on e.merchant_id = $1 and e.status = $11
           and case when $12::uuid is null then e.types = '{}' or chosen.type = any (e.types) else e.id = $12 end
         on conflict (event_id, endpoint_id) do update
           set status = excluded.status, attempts = 0, next_attempt_at = excluded.next_attempt_at, finished_at = null
           where webhook_deliveries.status <> excluded.status
         returning 1)
       select (select count(*) from chosen) as events, (select max(sequence) from chosen) as last, count(*) as deliveries
       from queued`,
      [
        merchantId,
        chosen.eventId ?? null,
        chosen.after ?? null,
        chosen.through ?? null,
        chosen.from ?? null,
        chosen.to ?? null,
        chosen.types ?? null,
        eventsMax,
        DeliveryStatus.pending,
        now(),
        EndpointStatus.enabled,
        chosen.endpointId ?? null,
      ],
    );
    const [events, deliveries] = [Number(rows[0]?.events), Number(rows[0]?.deliveries)];
    const nextAfter = Number(rows[0]?.last ?? chosen.after ?? 0);
    return { events, deliveries, nextAfter, hasMore: events === eventsMax };
  }
}
