import type { Pool, PoolClient } from 'pg';
import { now } from '#libs/server';
import type { Scope } from '../auth/caller.js';
import { checkReturnUrl } from '../callbacks/return-address.js';
import type { TermColumns } from '../consents/consent-terms.js';
import { forecastOf, type ForecastRow } from '../consents/forecast.js';
import { cutPage, readListCursor } from '../cursor.js';
import { appendEvent } from '../events/event-log.js';
import type { ListQuery } from '../list.dto.js';
import { stopReading } from '../sync/consent-change.js';
import { ConnectionStatus, isConnectionStatus, isReadable, isWaiting, sourcesOf } from './connection-state.js';
import type { ConnectionList, ConnectionView } from './connection.dto.js';
import { type RunRow, toProgress } from './sync-progress.js';

/** Columns that a move may set besides the status. */
export interface ConnectionColumns extends Partial<TermColumns> {
  consent_id?: string | null;
  sealed_consent_token?: string | null;
  authorisation_url?: string | null;
  confirmed_at?: Date | null;
  next_notice_at?: Date | null;
  noticed_days?: number | null;
  next_probe_at?: Date | null;
  next_sync_at?: Date | null;
  health?: string;
  sync_failures?: number;
}

export interface Move {
  id: string;
  to: ConnectionStatus;
  reason?: string;
  columns?: ConnectionColumns;
  /** The consent that was found to be so; when another has taken its place meanwhile, nothing is moved. */
  consentId?: string | null;
}

/**
 * Moves a connection by compare-and-set and tells the merchant's event log, all in the caller's transaction.
 * Answers false when the connection is in no state that may become `to`: somebody else was first.
 */
export async function moveConnection(
  client: PoolClient,
  { id, to, reason, columns = {}, consentId = null }: Move,
): Promise<boolean> {
  // Whatever is not active has no end ahead of it that anybody need be told of.
  const notices = isReadable(to) ? {} : { next_notice_at: null };
  const values: unknown[] = [id, sourcesOf(to), consentId];
  const set = assignments({ status: to, reason: reason ?? null, ...notices, ...columns }, values);
  if (to === ConnectionStatus.needsUser) set.push(`stops_at = least(stops_at, $${values.push(now())})`);
  const { rows } = await client.query<{ merchant_id: string; customer_id: string; institution_id: string }>(
    `update connections set ${set.join(', ')}
     where id = $1 and status = any($2) and ($3::uuid is null or consent_id = $3)
     returning merchant_id, customer_id, institution_id`,
    values,
  );
  const moved = rows[0];
  if (!moved) return false;
  if (!isReadable(to)) await stopReading(client, id, reason);
  await appendEvent(client, {
    merchantId: moved.merchant_id,
    customerId: moved.customer_id,
    type: 'connection.updated',
    data: { connectionId: id, institutionId: moved.institution_id, status: to, reason: reason ?? null },
  });
  return true;
}

/** Sets columns of a connection whose row the caller has locked, without a move. */
export async function setColumns(client: PoolClient, id: string, columns: ConnectionColumns): Promise<void> {
  const values: unknown[] = [id];
  await client.query(`update connections set ${assignments(columns, values).join(', ')} where id = $1`, values);
}

/** `name = $n` for each column; its value is put at the end of `values`. */
function assignments(columns: object, values: unknown[]): string[] {
  return Object.entries(columns).map(([name, value]) => `${name} = $${values.push(value)}`);
}

/** Where a browser may go after the bank: one of the merchant's registered addresses. */
export async function allowedReturnUrl(
  pool: Pool,
  merchantId: string,
  { wanted, production }: { wanted: string | undefined; production: boolean },
): Promise<string | undefined> {
  const { rows } = await pool.query<{ return_urls: string[] }>('select return_urls from merchants where id = $1', [
    merchantId,
  ]);
  return checkReturnUrl(wanted, { registered: rows[0]?.return_urls ?? [], production });
}

interface ViewRow extends Omit<ForecastRow, 'problem'> {
  institution_id: string;
  authorisation_url: string | null;
  created_at: Date;
  confirmed_at: Date | null;
  last_synced_at: Date | null;
  next_account_at: Date | null;
  run: RunRow | null;
}

const shown = `c.*, to_jsonb(r) as run, (select min(due_at) from account_schedules where connection_id = c.id) as next_account_at
  from connections c
  left join lateral (select * from sync_runs where connection_id = c.id order by started_at desc limit 1) r on true`;

/** A page of the scope's connections, newest first, each with its last synchronisation. */
export async function listConnections(
  pool: Pool,
  { customerId }: Scope,
  { limit = 100, cursor }: ListQuery,
): Promise<ConnectionList> {
  const list = ['connections', customerId];
  const after = cursor === undefined ? undefined : readListCursor(cursor, list);
  const { rows } = await pool.query<ViewRow>(
    `select ${shown} where c.customer_id = $1 and ($2::timestamptz is null or (c.created_at, c.id) < ($2, $3::uuid))
     order by c.created_at desc, c.id desc limit $4`,
    [customerId, after?.date ?? null, after?.id ?? null, limit + 1],
  );
  const { page, more } = cutPage(rows, limit, { list, placeOf: ({ created_at: date, id }) => ({ date, id }) });
  return { data: page.map(toView), ...more };
}

/** One of the scope's connections. */
export async function selectConnection(
  pool: Pool,
  { customerId }: Scope,
  id: string,
): Promise<ConnectionView | undefined> {
  const { rows } = await pool.query<ViewRow>(`select ${shown} where c.customer_id = $1 and c.id = $2`, [
    customerId,
    id,
  ]);
  return rows[0] && toView(rows[0]);
}

function toView(row: ViewRow): ConnectionView {
  if (!isConnectionStatus(row.status)) throw new Error(`Connection ${row.id} has an unknown status`);
  const waiting = isWaiting(row.status);
  const next = row.next_account_at ?? row.next_sync_at;
  return {
    id: row.id,
    institutionId: row.institution_id,
    status: row.status,
    ...(row.reason === null ? {} : { reason: row.reason }),
    health: row.health,
    ...(waiting && row.authorisation_url !== null ? { authorisationUrl: row.authorisation_url } : {}),
    createdAt: row.created_at.toISOString(),
    ...instant('authorisedAt', row.authorised_at),
    ...instant('expiresAt', row.expires_at),
    ...instant('reconfirmBy', row.reconfirm_by),
    ...instant('confirmedAt', row.confirmed_at),
    ...instant('lastSyncedAt', row.last_synced_at),
    forecast: forecastOf({ ...row, next_sync_at: next, problem: row.run?.problem ?? null }, now()),
    ...(waiting ? {} : instant('nextSyncAt', next)),
    ...(row.run === null ? {} : { sync: toProgress(row.run) }),
  };
}

function instant(name: string, value: Date | null): Record<string, string> {
  return value === null ? {} : { [name]: value.toISOString() };
}
