import type { PoolClient } from 'pg';
import type { Queryable } from '#libs/database';
import { appendEvent } from '../events/event-log.js';
import { DeliveryStatus } from './delivery-state.js';
import type { EndpointView } from './endpoint.dto.js';
import { type DisabledReason, EndpointStatus } from './endpoint-state.js';

interface EndpointRow {
  id: string;
  url: string;
  types: string[];
  description: string | null;
  status: EndpointStatus;
  disabled_reason: string | null;
  failing_since: Date | null;
  created_at: Date;
}

/** The merchant's endpoints, oldest first; only that of `id` when it is given. */
export async function selectEndpoints(db: Queryable, merchantId: string, id?: string): Promise<EndpointView[]> {
  const { rows } = await db.query<EndpointRow>(
    `select id, url, types, description, status, disabled_reason, failing_since, created_at from webhook_endpoints
     where merchant_id = $1 and ($2::uuid is null or id = $2) order by created_at, id`,
    [merchantId, id ?? null],
  );
  return rows.map((row) => ({
    id: row.id,
    url: row.url,
    types: row.types,
    ...(row.description === null ? {} : { description: row.description }),
    status: row.status,
    ...(row.disabled_reason === null ? {} : { disabledReason: row.disabled_reason }),
    ...(row.failing_since === null ? {} : { failingSince: row.failing_since.toISOString() }),
    createdAt: row.created_at.toISOString(),
  }));
}

export interface Disabling {
  merchantId: string;
  endpointId: string;
  reason: DisabledReason;
  at: Date;
}

/** Disables an endpoint, gives up what is on its way there, and tells the log; nothing when it is disabled already. */
export async function disableEndpoint(
  tx: PoolClient,
  { merchantId, endpointId, reason, at }: Disabling,
): Promise<void> {
  const { rowCount } = await tx.query(
    `update webhook_endpoints set status = $3, disabled_reason = $4, disabled_at = $5
     where id = $1 and merchant_id = $2 and status <> $3`,
    [endpointId, merchantId, EndpointStatus.disabled, reason, at],
  );
  if (rowCount !== 1) return;
  await tx.query(
    `update webhook_deliveries set status = $2, next_attempt_at = null, lease_until = null, finished_at = $4
     where endpoint_id = $1 and status = $3`,
    [endpointId, DeliveryStatus.dead, DeliveryStatus.pending, at],
  );
  await appendEvent(tx, { merchantId, type: 'webhook_endpoint.disabled', data: { endpointId, reason } });
}
