import type { Pool, PoolClient } from 'pg';
import type { Scope } from '../auth/caller.js';
import { appendEvent } from '../events/event-log.js';
import { type ConnectionStatus, isConnectionStatus, isWaiting, sourcesOf } from './connection-state.js';
import type { ConnectionView, SyncProgress } from './connection.dto.js';

/** Columns that a move may set besides the status. */
export interface ConnectionColumns {
  consent_id?: string | null;
  sealed_consent_token?: string | null;
  authorisation_url?: string | null;
  authorised_at?: Date | null;
  expires_at?: Date | null;
  reconfirm_by?: Date | null;
  next_sync_at?: Date | null;
  health?: string;
  sync_failures?: number;
}

export interface Move {
  id: string;
  to: ConnectionStatus;
  reason?: string;
  columns?: ConnectionColumns;
}

/**
 * Moves a connection by compare-and-set and tells the merchant's event log, all in the caller's transaction.
 * Answers false when the connection is in no state that may become `to`: somebody else was first.
 */
export async function moveConnection(client: PoolClient, { id, to, reason, columns = {} }: Move): Promise<boolean> {
  const set: Record<string, unknown> = { status: to, reason: reason ?? null, ...columns };
  const names = Object.keys(set);
  const { rows } = await client.query<{ merchant_id: string; customer_id: string; institution_id: string }>(
    `update connections set ${names.map((name, index) => `${name} = $${index + 3}`).join(', ')}
     where id = $1 and status = any($2) returning merchant_id, customer_id, institution_id`,
    [id, sourcesOf(to), ...Object.values(set)],
  );
  const moved = rows[0];
  if (!moved) return false;
  await appendEvent(client, {
    merchantId: moved.merchant_id,
    customerId: moved.customer_id,
    type: 'connection.updated',
    data: { connectionId: id, institutionId: moved.institution_id, status: to, reason: reason ?? null },
  });
  return true;
}

interface ViewRow {
  id: string;
  institution_id: string;
  status: string;
  reason: string | null;
  health: string;
  authorisation_url: string | null;
  created_at: Date;
  authorised_at: Date | null;
  expires_at: Date | null;
  reconfirm_by: Date | null;
  last_synced_at: Date | null;
  next_sync_at: Date | null;
  run: RunRow | null;
}

interface RunRow {
  status: string;
  started_at: string;
  ended_at: string | null;
  accounts: number;
  accounts_done: number;
  pages: number;
  rows_read: number;
  rows_expected: number;
  added: number;
  modified: number;
  removed: number;
  record_ms: number;
  problem: string | null;
}

/** The scope's connections, newest first, each with its last synchronisation; only that of `id` when it is given. */
export async function selectConnections(pool: Pool, { customerId }: Scope, id?: string): Promise<ConnectionView[]> {
  const { rows } = await pool.query<ViewRow>(
    `select c.*, to_jsonb(r) as run from connections c
     left join lateral (select * from sync_runs where connection_id = c.id order by started_at desc limit 1) r on true
     where c.customer_id = $1 and ($2::uuid is null or c.id = $2)
     order by c.created_at desc, c.id desc limit 500`,
    [customerId, id ?? null],
  );
  return rows.map(toView);
}

function toView(row: ViewRow): ConnectionView {
  if (!isConnectionStatus(row.status)) throw new Error(`Connection ${row.id} has an unknown status`);
  const waiting = isWaiting(row.status);
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
    ...instant('lastSyncedAt', row.last_synced_at),
    ...(waiting ? {} : instant('nextSyncAt', row.next_sync_at)),
    ...(row.run === null ? {} : { sync: toProgress(row.run) }),
  };
}

function instant(name: string, value: Date | null): Record<string, string> {
  return value === null ? {} : { [name]: value.toISOString() };
}

function toProgress(run: RunRow): SyncProgress {
  const changed = run.added + run.modified + run.removed;
  const perSecond =
    run.ended_at === null || run.record_ms === 0 ? undefined : Math.round((run.rows_read * 1000) / run.record_ms);
  return {
    status: run.status,
    startedAt: new Date(run.started_at).toISOString(),
    ...(run.ended_at === null ? {} : { endedAt: new Date(run.ended_at).toISOString() }),
    accounts: run.accounts,
    accountsDone: run.accounts_done,
    pages: run.pages,
    rowsRead: run.rows_read,
    rowsExpected: Math.max(run.rows_expected, run.rows_read),
    added: run.added,
    modified: run.modified,
    removed: run.removed,
    ...(perSecond === undefined || changed === 0 ? {} : { rowsPerSecond: perSecond }),
    ...(run.problem === null ? {} : { problem: run.problem }),
  };
}
