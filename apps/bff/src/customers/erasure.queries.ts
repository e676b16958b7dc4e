import type { PoolClient } from 'pg';
import { now } from '#libs/server';
import { lockConnectionsOf } from '../connections/connection-lock.js';
import { appendEvent } from '../events/event-log.js';
import { MerchantPaymentStatus, submittedStatuses } from '../payments/payment-status.js';
import { lockAccounts } from '../sync/account-join.js';
import { ConsentOutcome, type DeletedConsent } from './deletion.dto.js';

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

/** Why a payment failed that was not sent to a bank before its customer was deleted. */
export const takenBack = 'customer-deleted';

/** Events that name the customer, or anything of theirs. */
const told = `merchant_id = $1 and
  (customer_id = $2 or exists (select 1 from unnest($3::text[]) mark where strpos(data, mark) > 0))`;

/**
 * Deletes every row about a customer, in the caller's transaction. The money of payments that were sent is kept, with nobody's name;
 * in the merchant's log the numbers stay, so that it has no gap, and what they told is gone. Answers how many rows there were.
 */
export async function eraseRows(tx: PoolClient, traces: Traces): Promise<Record<string, number>> {
  const { customerId, merchantId, connectionIds, marks, inboundIds } = traces;
  // A reading that is being recorded ends first; one that is not has lost its lease, and records nothing any more.
  await tx.query(
    `delete from leases where resource in (select 'connection:' || id from connections where customer_id = $1
       union all select 'account:' || id from accounts where customer_id = $1)`,
    [customerId],
  );
  await lockAccounts(tx, customerId);
  await lockConnectionsOf(tx, { merchantId, customerId });
  const erased = await countRows(tx, customerId);
  // One that was sent and of which nobody learnt more in time is as unknown as it is.
  await tx.query(
    `insert into payment_records (id, merchant_id, institution_id, status, iso_status, amount, currency, created_at, submitted_at, completed_at)
     select id, merchant_id, institution_id, case when status = any($2) then status else $4 end, iso_status, amount, currency,
       created_at, submitted_at, completed_at
     from payments where customer_id = $1 and (status = any($2) or sending_at is not null) and reason is distinct from $3
     on conflict (id) do nothing`,
    [customerId, submittedStatuses, takenBack, MerchantPaymentStatus.UNKNOWN],
  );
  const whose = [merchantId, customerId, marks];
  await tx.query(`delete from webhook_deliveries where event_id in (select id from events where ${told})`, whose);
  await tx.query(`update events set customer_id = null, data = '{}' where ${told}`, whose);
  await tx.query('delete from inbound_events where id = any($1)', [inboundIds]);
  // What a reading that was cut off has left behind; the table is unlogged, so no foreign key holds it.
  await tx.query('delete from staged_rows where account_id in (select id from accounts where customer_id = $1)', [
    customerId,
  ]);
  // A withdrawal names the consent of somebody who is to be named no more; what became of it is in the proof.
  await tx.query('delete from withdrawals where connection_id = any($1)', [connectionIds]);
  // Everything else hangs on the customer: connections, accounts, balances, transactions, the change log, payments, keys.
  await tx.query('delete from customers where id = $1', [customerId]);
  return { ...erased, webhooks: inboundIds.length };
}

async function countRows(tx: PoolClient, customerId: string): Promise<Record<string, number>> {
  const kinds = ['connections', 'accounts', 'transactions', 'changes', 'payments'];
  const counts = kinds.map((kind) => `(select count(*)::int from ${kind} where customer_id = $1) as ${kind}`);
  const { rows } = await tx.query<Record<string, number>>(`select ${counts.join(', ')}`, [customerId]);
  return rows[0] ?? {};
}

/** What is left of a deletion: the proof, in which nobody is named. */
export interface Proof {
  id: string;
  merchantId: string;
  consents: readonly DeletedConsent[];
  userDeleted: boolean;
  erased: Record<string, number>;
}

/** Ends the deletion in the transaction that has deleted the rows, and tells the merchant. */
export async function completeDeletion(tx: PoolClient, proof: Proof): Promise<void> {
  const { id, merchantId, consents, userDeleted, erased } = proof;
  await tx.query(
    `update deletions set completed_at = $2, problem = null, consents = $3, user_deleted = $4, erased = $5 where id = $1`,
    [id, now(), JSON.stringify(consents), userDeleted, JSON.stringify(erased)],
  );
  const unconfirmed = consents.filter(({ outcome }) => outcome === ConsentOutcome.unconfirmed).length;
  const data = { deletionId: id, unconfirmedConsents: unconfirmed };
  await appendEvent(tx, { merchantId, type: 'customer.deleted', data });
}
