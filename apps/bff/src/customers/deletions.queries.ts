import type { Pool } from 'pg';
import type { ListCursor } from '../cursor.js';
import { type DeletedConsent, DeletionStatus, type DeletionView } from './deletion.dto.js';

export interface DeletionRow {
  id: string;
  merchant_id: string;
  customer_id: string | null;
  requested_at: Date;
  completed_at: Date | null;
  next_erasure_at: Date | null;
  attempts: number;
  problem: string | null;
  consents: string;
  user_deleted: boolean;
  erased: string;
}

export interface DeletionFilter {
  merchantId?: string | undefined;
  id?: string | undefined;
  after?: ListCursor | undefined;
  /** Only those of which something is not confirmed. */
  isUnconfirmed?: boolean;
}

/** The newest first. */
export async function selectDeletions(
  pool: Pool,
  { merchantId, id, after, isUnconfirmed = false }: DeletionFilter,
  limit: number,
): Promise<DeletionRow[]> {
  const { rows } = await pool.query<DeletionRow>(
    `select d.*, c.next_erasure_at from deletions d left join customers c on c.id = d.customer_id
     where ($1::uuid is null or d.merchant_id = $1) and ($2::uuid is null or d.id = $2)
       and ($3::timestamptz is null or (d.requested_at, d.id) < ($3, $4::uuid))
       and (not $5 or d.completed_at is null or not d.user_deleted or strpos(d.consents, '"unconfirmed"') > 0)
     order by d.requested_at desc, d.id desc limit $6`,
    [merchantId ?? null, id ?? null, after?.date ?? null, after?.id ?? null, isUnconfirmed, limit],
  );
  return rows;
}

/** A deletion as a merchant sees it; `patienceMs` is how long it waits for banks. */
export function toDeletionView(row: DeletionRow, patienceMs: number): DeletionView {
  return {
    id: row.id,
    status: row.completed_at === null ? DeletionStatus.running : DeletionStatus.completed,
    requestedAt: row.requested_at.toISOString(),
    deadlineAt: new Date(row.requested_at.getTime() + patienceMs).toISOString(),
    ...(row.completed_at === null ? {} : { completedAt: row.completed_at.toISOString() }),
    ...(row.next_erasure_at === null ? {} : { nextAttemptAt: row.next_erasure_at.toISOString() }),
    attempts: row.attempts,
    ...(row.problem === null ? {} : { problem: row.problem }),
    consents: JSON.parse(row.consents) as DeletedConsent[],
    userDeleted: row.user_deleted,
    erased: JSON.parse(row.erased) as Record<string, unknown>,
  };
}
