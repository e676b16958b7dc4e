import type { Queryable } from '#libs/database';
import type { EventView } from './event.dto.js';

/** Whose events, and which. */
export interface EventSelection {
  merchantId: string;
  customerId?: string | undefined;
  types?: readonly string[] | undefined;
  after?: number | undefined;
}

export interface EventRow {
  id: string;
  sequence: string;
  type: string;
  customer_id: string | null;
  data: string;
  created_at: Date;
}

/** A piece of a merchant's log. */
export interface Excerpt {
  events: EventView[];
  /** The newest number of the log, as of the same instant. */
  head: number;
  /** Everything up to this number is no longer kept. */
  sweptTo: number;
}

type ExcerptRow = { event_sequence: string; events_swept_to: string } & (EventRow | Record<keyof EventRow, null>);

/** Reads at most `limit` events after a place in the log; the oldest that are kept without one. */
export async function readEvents(db: Queryable, selection: EventSelection, limit: number): Promise<Excerpt> {
  const { merchantId, customerId, types, after } = selection;
  const { rows } = await db.query<ExcerptRow>(
    `select m.event_sequence, m.events_swept_to, e.* from merchants m left join lateral (
       select id, sequence, type, customer_id, data, created_at from events
       where merchant_id = m.id and sequence > coalesce($2::bigint, m.events_swept_to)
         and ($3::uuid is null or customer_id = $3) and ($4::text[] is null or type = any ($4))
       order by sequence limit $5) e on true
     where m.id = $1 order by e.sequence`,
    [merchantId, after ?? null, customerId ?? null, types ?? null, limit],
  );
  const [first] = rows;
  return {
    events: rows.flatMap((row) => (row.id === null ? [] : [toView(row)])),
    head: Number(first?.event_sequence ?? 0),
    sweptTo: Number(first?.events_swept_to ?? 0),
  };
}

/** What a merchant sees of an event, pulled, streamed or delivered. */
export function toView(row: EventRow): EventView {
  return {
    id: row.id,
    sequence: Number(row.sequence),
    type: row.type,
    ...(row.customer_id === null ? {} : { customerId: row.customer_id }),
    data: JSON.parse(row.data) as Record<string, unknown>,
    createdAt: row.created_at.toISOString(),
  };
}
