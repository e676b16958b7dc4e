import type { Pool, PoolClient } from 'pg';
import { now } from '#libs/server';
import { retire } from '../consents/withdrawals.queries.js';
import { cutPage, readListCursor } from '../cursor.js';
import { appendEvent } from '../events/event-log.js';
import type { ListQuery } from '../list.dto.js';
import { isOpen, isRenewalStatus, RenewalStatus, sourcesOf } from './renewal-state.js';
import type { RenewalList, RenewalView } from './renewal.dto.js';

/** An attempt together with what is needed of its connection. */
export interface Renewal {
  id: string;
  connection_id: string;
  merchant_id: string;
  institution_id: string;
  status: string;
  consent_id: string | null;
  return_url: string | null;
  authorisation_url: string | null;
  created_at: Date;
}

const renewal = `r.id, r.connection_id, r.merchant_id, c.institution_id, r.status, r.consent_id, r.return_url, r.authorisation_url, r.created_at
  from renewals r join connections c on c.id = r.connection_id`;

export async function findRenewal(pool: Pool, id: string): Promise<Renewal | undefined> {
  const { rows } = await pool.query<Renewal>(`select ${renewal} where r.id = $1`, [id]);
  return rows[0];
}

export async function renewalByState(pool: Pool, stateHash: string): Promise<Renewal | undefined> {
  const { rows } = await pool.query<Renewal>(`select ${renewal} where r.state_hash = $1`, [stateHash]);
  return rows[0];
}

/** The open attempt that waits for this consent. */
export async function openRenewalOf(pool: Pool, consentId: string): Promise<Renewal | undefined> {
  const { rows } = await pool.query<Renewal>(`select ${renewal} where r.consent_id = $1 and r.status = $2`, [
    consentId,
    RenewalStatus.awaitingAuthorisation,
  ]);
  return rows[0];
}

/** A customer who goes to the bank is back within this time, or has their approval known. */
const atBankMs = 15 * 60_000;

/** Whether the customer may be giving the next consent at the bank right now. */
export async function isBeingRenewed(pool: Pool, connectionId: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'select 1 from renewals where connection_id = $1 and status = $2 and created_at > $3',
    [connectionId, RenewalStatus.awaitingAuthorisation, new Date(now().getTime() - atBankMs)],
  );
  return rowCount !== 0;
}

/** Moves an attempt by compare-and-set and tells the merchant's log; false when it is no longer where it may be moved from. */
export async function moveRenewal(
  client: PoolClient,
  move: { id: string; to: RenewalStatus; reason?: string; formerConsentId?: string | null },
): Promise<boolean> {
  const { id, to, reason, formerConsentId } = move;
  const ended = isOpen(to) ? null : now();
  const { rows } = await client.query<{ merchant_id: string; customer_id: string; connection_id: string }>(
    `update renewals r set status = $2, reason = $3, former_consent_id = $4, ended_at = $5,
       next_look_at = case when $5::timestamptz is null then next_look_at end
     from connections c where r.id = $1 and r.status = any($6) and c.id = r.connection_id
     returning r.merchant_id, c.customer_id, r.connection_id`,
    [id, to, reason ?? null, formerConsentId ?? null, ended, sourcesOf(to)],
  );
  const moved = rows[0];
  if (!moved) return false;
  await appendEvent(client, {
    merchantId: moved.merchant_id,
    customerId: moved.customer_id,
    type: 'connection.renewal',
    data: { connectionId: moved.connection_id, renewalId: id, status: to, reason: reason ?? null },
  });
  return true;
}

/** Ends a connection's open attempts but `except`, and has the consents end that nobody will use. */
export async function replaceOpenRenewals(
  client: PoolClient,
  {
    connectionId,
    ownConsentId,
    except,
    reason,
  }: {
    connectionId: string;
    ownConsentId: string | null;
    except?: string;
    reason: string;
  },
): Promise<void> {
  const { rows } = await client.query<{ id: string; merchant_id: string; consent_id: string | null }>(
    'select id, merchant_id, consent_id from renewals where connection_id = $1 and status = any($2) and id is distinct from $3',
    [connectionId, sourcesOf(RenewalStatus.replaced), except ?? null],
  );
  for (const { id, merchant_id: merchantId, consent_id: consentId } of rows) {
    const moved = await moveRenewal(client, { id, to: RenewalStatus.replaced, reason });
    if (moved && consentId !== null && consentId !== ownConsentId) {
      await retire(client, { merchantId, connectionId, consentId, reason: 'renewal-replaced' });
    }
  }
}

interface ViewRow {
  id: string;
  connection_id: string;
  status: string;
  reason: string | null;
  authorisation_url: string | null;
  created_at: Date;
  ended_at: Date | null;
  withdrawn_at: Date | null;
}

const shown = `r.id, r.connection_id, r.status, r.reason, r.authorisation_url, r.created_at, r.ended_at, w.withdrawn_at
  from renewals r join connections c on c.id = r.connection_id
  left join withdrawals w on w.consent_id = r.former_consent_id
  where r.connection_id = $1 and c.customer_id = $2`;

interface Renewed {
  connectionId: string;
  customerId: string;
}

/** A page of a connection's attempts, newest first. */
export async function listRenewals(
  pool: Pool,
  { connectionId, customerId }: Renewed,
  { limit = 100, cursor }: ListQuery,
): Promise<RenewalList> {
  const list = ['renewals', connectionId];
  const after = cursor === undefined ? undefined : readListCursor(cursor, list);
  const { rows } = await pool.query<ViewRow>(
    `select ${shown} and ($3::timestamptz is null or (r.created_at, r.id) < ($3, $4::uuid))
     order by r.created_at desc, r.id desc limit $5`,
    [connectionId, customerId, after?.date ?? null, after?.id ?? null, limit + 1],
  );
  const { page, more } = cutPage(rows, limit, { list, placeOf: ({ created_at: date, id }) => ({ date, id }) });
  return { data: page.map(toView), ...more };
}

/** One of a connection's attempts. */
export async function selectRenewal(
  pool: Pool,
  { connectionId, customerId, id }: Renewed & { id: string },
): Promise<RenewalView | undefined> {
  const { rows } = await pool.query<ViewRow>(`select ${shown} and r.id = $3`, [connectionId, customerId, id]);
  return rows[0] && toView(rows[0]);
}

function toView(row: ViewRow): RenewalView {
  if (!isRenewalStatus(row.status)) throw new Error(`Renewal ${row.id} has an unknown status`);
  return {
    id: row.id,
    connectionId: row.connection_id,
    status: row.status,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(isOpen(row.status) && row.authorisation_url !== null ? { authorisationUrl: row.authorisation_url } : {}),
    createdAt: row.created_at.toISOString(),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at.toISOString() }),
    ...(row.withdrawn_at === null ? {} : { formerConsentEndedAt: row.withdrawn_at.toISOString() }),
  };
}
