import type { PoolClient } from 'pg';
import { submittedStatuses } from '../payments/payment-status.js';

/** Where a customer has left something that no foreign key leads to. */
export interface Traces {
  customerId: string;
  merchantId: string;
  connectionIds: string[];
  /** Every id that stands for the customer in logs. */
  marks: string[];
  /** Webhooks that came in about them. */
  inboundIds: string[];
}

/** Events that name the customer, or anything of theirs. */
const told = `merchant_id = $1 and
  (customer_id = $2 or exists (select 1 from unnest($3::text[]) mark where strpos(data, mark) > 0))`;

/**
 * Deletes every row about a customer, in the caller's transaction. The money of payments that were sent is kept, with nobody's name;
 * in the merchant's log the numbers stay, so that it has no gap, and what they told is gone.
 */
export async function eraseRows(tx: PoolClient, traces: Traces): Promise<void> {
  const { customerId, merchantId, connectionIds, marks, inboundIds } = traces;
  await tx.query(
    `insert into payment_records (id, merchant_id, institution_id, status, iso_status, amount, currency, created_at, submitted_at, completed_at)
     select id, merchant_id, institution_id, status, iso_status, amount, currency, created_at, submitted_at, completed_at
     from payments where customer_id = $1 and status = any($2) on conflict (id) do nothing`,
    [customerId, submittedStatuses],
  );
  const whose = [merchantId, customerId, marks];
  await tx.query(`delete from webhook_deliveries where event_id in (select id from events where ${told})`, whose);
  await tx.query(`update events set customer_id = null, data = '{}' where ${told}`, whose);
  await tx.query('delete from inbound_events where id = any($1)', [inboundIds]);
  await tx.query(
    `delete from leases where resource in (select 'connection:' || id from connections where customer_id = $1
       union all select 'account:' || id from accounts where customer_id = $1)`,
    [customerId],
  );
  // What a reading that was cut off has left behind; the table is unlogged, so no foreign key holds it.
  await tx.query('delete from staged_rows where account_id in (select id from accounts where customer_id = $1)', [
    customerId,
  ]);
  // The user at the aggregator is gone, and all consents with it: nothing is left to withdraw.
  await tx.query('delete from withdrawals where connection_id = any($1)', [connectionIds]);
  // Everything else hangs on the customer: connections, accounts, balances, transactions, the change log, payments, keys.
  await tx.query('delete from customers where id = $1', [customerId]);
}
