import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { now } from '#libs/server';
import type { NewEvent } from './event-log.js';

/** An event with a customer, for whichever merchant. */
export type BatchedEvent = Required<Pick<NewEvent, 'merchantId' | 'type' | 'customerId' | 'data'>>;

/**
 * Appends many events of many merchants at once, as `appendEvent` does one: in the caller's transaction, without gaps, with
 * the deliveries to the endpoints that want them. The merchants are locked in one order everywhere.
 */
export async function appendEvents(client: PoolClient, events: readonly BatchedEvent[]): Promise<void> {
  if (events.length === 0) return;
  await client.query('select id from merchants where id = any($1) order by id for no key update', [
    [...new Set(events.map(({ merchantId }) => merchantId))],
  ]);
  await client.query(
    `with new as (
       select *, row_number() over (partition by merchant_id order by place) as nth
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[])
         with ordinality as u(id, merchant_id, type, customer_id, data, place)),
     taken as (
       update merchants m set event_sequence = event_sequence + c.count
       from (select merchant_id, count(*) as count from new group by merchant_id) c where m.id = c.merchant_id
       returning m.id, m.event_sequence - c.count as base),
     logged as (
       insert into events (merchant_id, sequence, id, type, customer_id, data, created_at)
       select n.merchant_id, t.base + n.nth, n.id, n.type, n.customer_id, n.data, $6 from new n join taken t on t.id = n.merchant_id
       returning merchant_id, id, type)
     insert into webhook_deliveries (id, merchant_id, endpoint_id, event_id, status, attempts, next_attempt_at, created_at)
     select gen_random_uuid(), l.merchant_id, e.id, l.id, 'pending', 0, $6, $6 from webhook_endpoints e
     join logged l on e.merchant_id = l.merchant_id
     where e.status = 'enabled' and (e.types = '{}' or l.type = any (e.types))`,
    [
      events.map(() => randomUUID()),
      events.map(({ merchantId }) => merchantId),
      events.map(({ type }) => type),
      events.map(({ customerId }) => customerId),
      events.map(({ data }) => JSON.stringify(data)),
      now(),
    ],
  );
}
