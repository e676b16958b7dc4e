import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POOL } from '#libs/database';
import type { EventPage, EventsQuery } from './event.dto.js';

interface EventRow {
  id: string;
  sequence: string;
  type: string;
  customer_id: string | null;
  data: string;
  created_at: Date;
}

/** The merchant's event log, to be pulled from any place in it. */
@Injectable()
export class EventsService {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  async list(merchantId: string, { after = 0, limit = 100 }: EventsQuery): Promise<EventPage> {
    const { rows } = await this.pool.query<EventRow>(
      `select id, sequence, type, customer_id, data, created_at from events
       where merchant_id = $1 and sequence > $2 order by sequence limit $3`,
      [merchantId, after, limit + 1],
    );
    const data = rows.slice(0, limit).map((row) => ({
      id: row.id,
      sequence: Number(row.sequence),
      type: row.type,
      customerId: row.customer_id ?? undefined,
      data: JSON.parse(row.data) as Record<string, unknown>,
      createdAt: row.created_at.toISOString(),
    }));
    return { data, nextAfter: data.at(-1)?.sequence ?? after, hasMore: rows.length > limit };
  }
}
