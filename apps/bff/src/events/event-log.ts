import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { now } from '#libs/server';

/** What a merchant's event log says: ids and statuses, never financial data. */
export interface NewEvent {
  merchantId: string;
  type:
    | 'connection.updated'
    | 'connection.synced'
    | 'connection.expiring'
    | 'connection.renewal'
    | 'institution.outage-began'
    | 'institution.outage-ended'
    | 'payment.updated'
    | 'payment.completed'
    | 'payment.failed'
    | 'webhook.handled';
  customerId?: string;
  data: Readonly<Record<string, string | number | null>>;
}

/**
 * Appends to the merchant's log inside the caller's transaction, which therefore holds the event exactly if it holds
 * the change. The merchant's row hands out the numbers and stays locked until the end, so there are no gaps.
 */
export async function appendEvent(client: PoolClient, { merchantId, type, customerId, data }: NewEvent): Promise<void> {
  await client.query(
    `with taken as (update merchants set event_sequence = event_sequence + 1 where id = $1 returning event_sequence)
     insert into events (merchant_id, sequence, id, type, customer_id, data, created_at)
     select $1, event_sequence, $2, $3, $4, $5, $6 from taken`,
    [merchantId, randomUUID(), type, customerId ?? null, JSON.stringify(data), now()],
  );
}
