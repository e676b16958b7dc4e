import { randomUUID } from 'node:crypto';
import type { Queryable } from '#libs/database';
import type { Outcome } from '#libs/server';
import type { EventRow } from '../events/events.queries.js';
import { DeliveryStatus } from './delivery-state.js';
import type { DeliveryPage, DeliveryQuery, DeliveryView } from './endpoint.dto.js';
import { EndpointStatus } from './endpoint-state.js';

/** Everything that one attempt needs. */
export type Outgoing = EventRow & {
  delivery_id: string;
  merchant_id: string;
  endpoint_id: string;
  attempts: number;
  url: string;
  failing_since: Date | null;
  /** The live secrets, the newest first. */
  secrets: { id: string; sealed: string }[];
};

/** A delivery that is still to be made; undefined when it is finished or its endpoint is disabled. */
export async function selectOutgoing(db: Queryable, id: string, at: Date): Promise<Outgoing | undefined> {
  const { rows } = await db.query<Outgoing>(
    `select d.id as delivery_id, d.merchant_id, d.endpoint_id, d.attempts, e.url, e.failing_since, ev.id, ev.sequence,
            ev.type, ev.customer_id, ev.data, ev.created_at,
            (select jsonb_agg(jsonb_build_object('id', s.id, 'sealed', s.sealed_secret) order by s.created_at desc)
             from endpoint_secrets s where s.endpoint_id = e.id and (s.expires_at is null or s.expires_at > $2)) as secrets
     from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id join events ev on ev.id = d.event_id
     where d.id = $1 and d.status = $3 and e.status = $4`,
    [id, at, DeliveryStatus.pending, EndpointStatus.enabled],
  );
  return rows[0];
}

export interface Result {
  status: DeliveryStatus;
  nextAttemptAt: Date | null;
  finishedAt: Date | null;
}

/** Ends an attempt; false when another worker has ended the same one. */
export async function finishAttempt(tx: Queryable, { delivery_id: id, attempts }: Outgoing, result: Result) {
  const { rowCount } = await tx.query(
    `update webhook_deliveries set status = $4, attempts = attempts + 1, next_attempt_at = $5, finished_at = $6, lease_until = null
     where id = $1 and attempts = $2 and status = $3`,
    [id, attempts, DeliveryStatus.pending, result.status, result.nextAttemptAt, result.finishedAt],
  );
  return rowCount === 1;
}

/** Keeps what one request came to. */
export async function insertAttempt(
  tx: Queryable,
  deliveryId: string,
  { startedAt, durationMs, outcome }: { startedAt: Date; durationMs: number; outcome: Outcome },
): Promise<void> {
  const httpStatus = 'httpStatus' in outcome ? outcome.httpStatus : null;
  const failure = 'failure' in outcome ? outcome.failure : null;
  await tx.query(
    `insert into webhook_attempts (id, delivery_id, started_at, duration_ms, http_status, failure)
     values ($1, $2, $3, $4, $5, $6)`,
    [randomUUID(), deliveryId, startedAt, durationMs, httpStatus, failure],
  );
}

interface DeliveryRow {
  id: string;
  event_id: string;
  sequence: string;
  type: string;
  status: DeliveryStatus;
  next_attempt_at: Date | null;
  created_at: Date;
  finished_at: Date | null;
  sent: { started_at: string; duration_ms: number; http_status: number | null; failure: string | null }[] | null;
}

/** An endpoint's deliveries with their attempts, newest first: ids and statuses, never what was sent. */
export async function selectDeliveries(
  db: Queryable,
  endpointId: string,
  { status, after, limit = 50 }: DeliveryQuery,
): Promise<DeliveryPage> {
  const { rows } = await db.query<DeliveryRow>(
    `select d.id, d.event_id, ev.sequence, ev.type, d.status, d.next_attempt_at, d.created_at, d.finished_at, a.sent
     from webhook_deliveries d join events ev on ev.id = d.event_id
     left join lateral (
       select jsonb_agg(to_jsonb(newest)) as sent from (
         select started_at, duration_ms, http_status, failure from webhook_attempts
         where delivery_id = d.id order by started_at desc, id limit 20) newest) a on true
     where d.endpoint_id = $1 and ($2::text is null or d.status = $2)
       and ($3::uuid is null or (d.created_at, d.id) < (select created_at, id from webhook_deliveries where id = $3 and endpoint_id = $1))
     order by d.created_at desc, d.id desc limit $4`,
    [endpointId, status ?? null, after ?? null, limit + 1],
  );
  return { data: rows.slice(0, limit).map(toView), hasMore: rows.length > limit };
}

function toView(row: DeliveryRow): DeliveryView {
  return {
    id: row.id,
    eventId: row.event_id,
    sequence: Number(row.sequence),
    type: row.type,
    status: row.status,
    ...(row.next_attempt_at === null ? {} : { nextAttemptAt: row.next_attempt_at.toISOString() }),
    createdAt: row.created_at.toISOString(),
    ...(row.finished_at === null ? {} : { finishedAt: row.finished_at.toISOString() }),
    attempts: (row.sent ?? []).map((attempt) => ({
      startedAt: new Date(attempt.started_at).toISOString(),
      durationMs: attempt.duration_ms,
      ...(attempt.http_status === null ? {} : { httpStatus: attempt.http_status }),
      ...(attempt.failure === null ? {} : { failure: attempt.failure }),
    })),
  };
}
