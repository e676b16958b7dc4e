import { randomUUID } from 'node:crypto';
import type { Queryable } from '../consents/consent.queries.js';

/** Which answer a snapshot is: of one consent, to one query. */
export interface SnapshotKey {
  consentId: string;
  queryKey: string;
}

/** A run of rows, sealed; `firstRow` counts from 0 over the whole answer. */
export interface SealedChunk {
  firstRow: number;
  rowCount: number;
  sealed: string;
}

/**
 * Replaces the snapshot of a query, inside the caller's transaction. Two processes that walked the same query at once
 * take turns, and the later one stays.
 */
export async function replaceSnapshot(
  tx: Queryable,
  snapshot: SnapshotKey & { applicationId: string; total: number; createdAt: Date; expiresAt: Date },
  chunks: readonly SealedChunk[],
): Promise<void> {
  const { consentId, queryKey, applicationId, total, createdAt, expiresAt } = snapshot;
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${consentId}:${queryKey}`]);
  await tx.query('DELETE FROM snapshots WHERE consent_id = $1 AND query_key = $2', [consentId, queryKey]);
  const id = randomUUID();
  await tx.query(
    `INSERT INTO snapshots (id, application_id, consent_id, query_key, total, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, applicationId, consentId, queryKey, total, createdAt, expiresAt],
  );
  await tx.query(
    `INSERT INTO snapshot_chunks (snapshot_id, first_row, row_count, sealed)
     SELECT $1, * FROM unnest($2::int[], $3::int[], $4::text[])`,
    [
      id,
      chunks.map(({ firstRow }) => firstRow),
      chunks.map(({ rowCount }) => rowCount),
      chunks.map(({ sealed }) => sealed),
    ],
  );
}

/** Removes the snapshot of a query; the chunks go with it. */
export async function dropSnapshot(db: Queryable, { consentId, queryKey }: SnapshotKey): Promise<void> {
  await db.query('DELETE FROM snapshots WHERE consent_id = $1 AND query_key = $2', [consentId, queryKey]);
}

/** The snapshot of a query that is still good, and how many rows it has; undefined when there is none. */
export async function findSnapshot(
  db: Queryable,
  { consentId, queryKey }: SnapshotKey,
  at: Date,
): Promise<{ id: string; total: number } | undefined> {
  const { rows } = await db.query<{ id: string; total: number }>(
    'SELECT id, total FROM snapshots WHERE consent_id = $1 AND query_key = $2 AND expires_at > $3',
    [consentId, queryKey, at],
  );
  return rows[0];
}

/** The chunks that hold any of the rows from `from` up to but not including `to`, in order. */
export async function readChunks(db: Queryable, snapshotId: string, from: number, to: number): Promise<SealedChunk[]> {
  const { rows } = await db.query<SealedChunk>(
    `SELECT first_row AS "firstRow", row_count AS "rowCount", sealed FROM snapshot_chunks
      WHERE snapshot_id = $1 AND first_row < $3 AND first_row + row_count > $2 ORDER BY first_row`,
    [snapshotId, from, to],
  );
  return rows;
}
