import type { Queryable } from './consent.queries.js';

/** Removes snapshots that have had their time, at most `limit`; their chunks go with them. */
export async function deleteStaleSnapshots(db: Queryable, at: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM snapshots WHERE id IN (SELECT id FROM snapshots WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,
    [at, limit],
  );
  return rowCount ?? 0;
}
