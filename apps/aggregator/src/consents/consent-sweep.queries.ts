import type { Queryable } from './consent.queries.js';
import { expiringStatuses, polledStatuses, unfinishedStatuses } from './consent-state.js';

/** What one run of the sweep looks at; `updated_at` tells since when a consent has its status. */
export interface Due {
  at: Date;
  unfinishedSince: Date;
  limit: number;
}

/** What is written to a consent whose time is over; the first parameter is the instant. */
const EXPIRE = `UPDATE consents
    SET status = 'EXPIRED', updated_at = $1, sealed_pending = NULL, sealed_answer = NULL, sealed_url = NULL, sealed_sca = NULL`;

/** Ends one consent that somebody looks at before the sweep, if its end has passed. */
export async function expireConsent(db: Queryable, id: string, at: Date): Promise<void> {
  await db.query(`${EXPIRE} WHERE id = $2 AND status = ANY($3) AND expires_at <= $1 AND deleted_at IS NULL`, [
    at,
    id,
    expiringStatuses(),
  ]);
}

/** Ends what is past its time: at most `limit` of each kind. Returns how many were ended. */
export async function expireConsents(db: Queryable, due: Due): Promise<number> {
  const end = async (condition: string, values: unknown[]): Promise<number> => {
    const { rowCount } = await db.query(
      `${EXPIRE}
        WHERE id IN (SELECT id FROM consents WHERE ${condition} AND deleted_at IS NULL
                      ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
      [due.at, due.limit, ...values],
    );
    return rowCount ?? 0;
  };
  const overdue = await end('status = ANY($3) AND expires_at <= $1', [expiringStatuses()]);
  const unfinished = await end('status = ANY($3) AND former_status IS NULL AND updated_at <= $4', [
    unfinishedStatuses(),
    due.unfinishedSince,
  ]);
  return overdue + unfinished;
}

/** Gives up re-authorisations that nobody answered: the consent is again what it was. Returns how many there were. */
export async function restoreRenewals(db: Queryable, due: Due): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE consents
        SET status = former_status, former_status = NULL, updated_at = $1, sealed_pending = NULL, sealed_answer = NULL,
            sealed_url = NULL
      WHERE id IN (SELECT id FROM consents
                    WHERE status = ANY($4) AND former_status IS NOT NULL AND updated_at <= $3 AND deleted_at IS NULL
                    ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [due.at, due.limit, due.unfinishedSince, unfinishedStatuses()],
  );
  return rowCount ?? 0;
}

/**
 * The consents about which the bank should be asked again, longest unasked first: a minute after the last time, later the
 * longer they have waited, so that a day of waiting costs the bank some fifty calls and not 1,440.
 */
export async function dueChecks(
  db: Queryable,
  at: Date,
  limit: number,
): Promise<{ id: string; applicationId: string }[]> {
  const { rows } = await db.query<{ id: string; applicationId: string }>(
    `SELECT id, application_id AS "applicationId" FROM consents
      WHERE status = ANY($1) AND deleted_at IS NULL
        AND coalesce(checked_at, updated_at) <= $2::timestamptz - greatest(interval '1 minute', ($2::timestamptz - updated_at) / 10)
      ORDER BY checked_at NULLS FIRST LIMIT $3`,
    [polledStatuses(), at, limit],
  );
  return rows;
}
