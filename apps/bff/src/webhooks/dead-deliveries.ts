import type { Pool } from 'pg';
import { now } from '#libs/server';
import { DeliveryStatus } from './delivery-state.js';
import { EndpointStatus } from './endpoint-state.js';

/** A delivery to a merchant's endpoint that was given up. */
export interface DeadDelivery {
  id: string;
  merchantId: string;
  endpointId: string;
  eventId: string;
  type: string;
  attempts: number;
  finishedAt: string;
}

export interface DeadDeliveryFilter {
  merchantId?: string | undefined;
  endpointId?: string | undefined;
  type?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

interface DeadRow {
  id: string;
  merchant_id: string;
  endpoint_id: string;
  event_id: string;
  type: string;
  attempts: number;
  finished_at: Date;
}

const narrowed = `d.status = $1 and ($2::uuid is null or d.merchant_id = $2) and ($3::uuid is null or d.endpoint_id = $3)
  and ($4::text is null or ev.type = $4) and ($5::timestamptz is null or d.finished_at >= $5)
  and ($6::timestamptz is null or d.finished_at < $6)`;

function values({ merchantId, endpointId, type, since, until }: DeadDeliveryFilter): unknown[] {
  return [DeliveryStatus.dead, merchantId ?? null, endpointId ?? null, type ?? null, since ?? null, until ?? null];
}

/** The operator's view of what no endpoint took. */
export class DeadDeliveries {
  constructor(private readonly pool: Pool) {}

  /** The newest first. */
  async list(filter: DeadDeliveryFilter = {}, limit = 100): Promise<DeadDelivery[]> {
    const { rows } = await this.pool.query<DeadRow>(
      `select d.id, d.merchant_id, d.endpoint_id, d.event_id, ev.type, d.attempts, d.finished_at
       from webhook_deliveries d join events ev on ev.id = d.event_id
       where ${narrowed} order by d.finished_at desc limit $7`,
      [...values(filter), limit],
    );
    return rows.map((row) => ({
      id: row.id,
      merchantId: row.merchant_id,
      endpointId: row.endpoint_id,
      eventId: row.event_id,
      type: row.type,
      attempts: row.attempts,
      finishedAt: row.finished_at.toISOString(),
    }));
  }

  /** Makes one of them, or all that match, due again; those of disabled endpoints stay. Answers how many. */
  async replay(filter: DeadDeliveryFilter & { id?: string | undefined }): Promise<number> {
    const { rowCount } = await this.pool.query(
      `update webhook_deliveries r set status = $7, attempts = 0, next_attempt_at = $8, finished_at = null
       from webhook_deliveries d join events ev on ev.id = d.event_id and ev.merchant_id = d.merchant_id
       join webhook_endpoints e on e.id = d.endpoint_id
       where r.id = d.id and ${narrowed} and e.status = $9 and ($10::text is null or d.id::text = $10)`,
      [...values(filter), DeliveryStatus.pending, now(), EndpointStatus.enabled, filter.id ?? null],
    );
    return rowCount ?? 0;
  }
}
