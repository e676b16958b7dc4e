import { callbackStatuses } from '../consents/consent-state.js';
import type { Queryable } from '../consents/consent.queries.js';

/**
 * Takes the answering of a consent in hand until `until`. False when its user has been answered already, or another
 * request is at it now; a request that crashed holds it no longer than its lease.
 */
export async function claimCallback(db: Queryable, id: string, at: Date, until: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE consents SET callback_lease_until = $4, updated_at = $3
      WHERE id = $1 AND status = ANY($2) AND deleted_at IS NULL
        AND (callback_lease_until IS NULL OR callback_lease_until <= $3)`,
    [id, callbackStatuses(), at, until],
  );
  return rowCount === 1;
}

/** Gives the answering back, when the bank has not decided yet. */
export async function releaseCallback(db: Queryable, id: string, sealedPending: string): Promise<void> {
  await db.query('UPDATE consents SET callback_lease_until = NULL, sealed_pending = $2 WHERE id = $1', [
    id,
    sealedPending,
  ]);
}
