import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { now } from '#libs/server';
import type { EventType } from './event-type.js';

/** What a merchant's event log says: ids and statuses, never financial data. */
export interface NewEvent {
  merchantId: string;
  type: EventType;
  customerId?: string;
  /** Only this endpoint is told, whatever it subscribes to. */
  endpointId?: string;
  data: Readonly<Record<string, string | number | null>>;
}

/** Where an event stands in its merchant's log. */
export interface Appended {
  id: string;
  sequence: number;
}

/**
 * Appends to the merchant's log inside the caller's transaction, which therefore holds the event exactly if it holds
 * the change; with it go the deliveries to the endpoints that want such events now. The merchant's row hands out the
 * numbers and stays locked until the end, so there are no gaps. Undefined when the merchant is gone.
 */
export async function appendEvent(client: PoolClient, event: NewEvent): Promise<Appended | undefined> {
  const { merchantId, type, customerId, endpointId, data } = event;
  const id = randomUUID();
  const { rows } = await client.query<{ sequence: string }>(
    `with taken as (update merchants set event_sequence = event_sequence + 1 where id = $1 returning event_sequence),
     logged as (
       insert into events (merchant_id, sequence, id, type, customer_id, data, created_at)
       select $1, event_sequence, $2, $3, $4, $5, $6 from taken returning sequence),
     outbox as (
       insert into webhook_deliveries (id, merchant_id, endpoint_id, event_id, status, attempts, next_attempt_at, created_at)
       select gen_random_uuid(), $1, e.id, $2, 'pending', 0, $6, $6 from webhook_endpoints e, logged
       where e.merchant_id = $1 and e.status = 'enabled'
         and case when $7::uuid is null then e.types = '{}' or $3 = any (e.types) else e.id = $7 end)
     select sequence from logged`,
    [merchantId, id, type, customerId ?? null, JSON.stringify(data), now(), endpointId ?? null],
  );
  return rows[0] && { id, sequence: Number(rows[0].sequence) };
}
