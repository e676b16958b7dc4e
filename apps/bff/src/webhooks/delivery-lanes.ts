import type { Pool } from 'pg';
import { now } from '#libs/server';

/** A request takes at most the timeout of `WEBHOOK_TIMEOUT_MS`, of which 30 s is the longest. */
export const deliveryLeaseMs = 60_000;

/** Deliveries to one endpoint under way at once, at most; a failing endpoint is only tried. */
const lanesMax = 4;
const lanesOfFailing = 1;
/** Deliveries that one tick hands to the queue, at most. */
const tickSizeMax = 200;

/**
 * Takes deliveries that are due, of every endpoint a few: its oldest, of which those that are in hand already count. However much
 * waits for an endpoint that is slow, it never holds more than its lanes, and the others go on.
 */
export async function takeDueDeliveries(pool: Pool): Promise<string[]> {
  const at = now();
  const { rows } = await pool.query<{ id: string }>(
    `with oldest as (
       select d.id, d.lease_until, d.next_attempt_at from webhook_endpoints e cross join lateral (
         select id, lease_until, next_attempt_at from webhook_deliveries
         where endpoint_id = e.id and next_attempt_at <= $1
         order by next_attempt_at limit case when e.failing_since is null then $3::int else $4::int end) d
       where exists (select from webhook_deliveries where next_attempt_at <= $1)),
     taken as (
       select d.id from webhook_deliveries d join oldest using (id)
       where oldest.lease_until is null or oldest.lease_until <= $1
       order by oldest.next_attempt_at limit $2 for update of d skip locked)
     update webhook_deliveries d set lease_until = $5 from taken where d.id = taken.id returning d.id`,
    [at, tickSizeMax, lanesMax, lanesOfFailing, new Date(at.getTime() + deliveryLeaseMs)],
  );
  return rows.map(({ id }) => id);
}

/** The next delivery to the endpoint of one that has just been taken, for the lane that it leaves free. */
export async function takeNextDelivery(pool: Pool, afterId: string): Promise<string | undefined> {
  const at = now();
  const { rows } = await pool.query<{ id: string }>(
    `update webhook_deliveries set lease_until = $3 where id = (
       select d.id from webhook_deliveries d join webhook_deliveries before on before.endpoint_id = d.endpoint_id
       where before.id = $1 and before.status = 'delivered' and d.next_attempt_at <= $2
         and (d.lease_until is null or d.lease_until <= $2)
       order by d.next_attempt_at limit 1 for update of d skip locked)
     returning id`,
    [afterId, at, new Date(at.getTime() + deliveryLeaseMs)],
  );
  return rows[0]?.id;
}
