import type { AuthorisationStatus } from '#libs/contract';
import type { Queryable } from './consent.queries.js';

/** Which authorisation is taken in hand, and until when. */
export interface Claim {
  id: string;
  status: AuthorisationStatus;
  at: Date;
  until: Date;
  /** Only if the bank was not asked since. */
  uncheckedSince?: Date;
}

/**
 * Takes the next step of an authorisation in hand until `until`, and answers what the connector left for it. Undefined when
 * the consent is no longer in `status`, or another request is at it now; a request that crashed holds it no longer than its
 * lease.
 */
export async function claimConsent(
  db: Queryable,
  { id, status, at, until, uncheckedSince }: Claim,
): Promise<{ sealedPending: string | null } | undefined> {
  const { rows } = await db.query<{ sealedPending: string | null }>(
    `UPDATE consents
        SET callback_lease_until = $4, checked_at = CASE WHEN $5::timestamptz IS NULL THEN checked_at ELSE $3 END
      WHERE id = $1 AND status = $2 AND deleted_at IS NULL
        AND (callback_lease_until IS NULL OR callback_lease_until <= $3)
        AND ($5::timestamptz IS NULL OR checked_at IS NULL OR checked_at <= $5)
      RETURNING sealed_pending AS "sealedPending"`,
    [id, status, at, until, uncheckedSince ?? null],
  );
  return rows[0];
}

/** Gives the authorisation back, when the bank has not decided yet; with what the connector wants to find next time. */
export async function releaseConsent(db: Queryable, id: string, sealedPending?: string): Promise<void> {
  await db.query(
    `UPDATE consents SET callback_lease_until = NULL, sealed_pending = coalesce($2, sealed_pending) WHERE id = $1`,
    [id, sealedPending ?? null],
  );
}

/** Counts a wrong code and gives the authorisation back. Answers how many there have been. */
export async function countScaFailure(db: Queryable, id: string): Promise<number> {
  const { rows } = await db.query<{ failures: number }>(
    `UPDATE consents SET sca_failures = sca_failures + 1, callback_lease_until = NULL WHERE id = $1
      RETURNING sca_failures AS "failures"`,
    [id],
  );
  return rows[0]?.failures ?? 0;
}

/** Keeps the bank's answer until the client sends its code; false when the user is no longer awaited. */
export async function keepAnswer(
  db: Queryable,
  kept: { id: string; status: AuthorisationStatus; sealedAnswer: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE consents SET sealed_answer = $3 WHERE id = $1 AND status = $2 AND deleted_at IS NULL`,
    [kept.id, kept.status, kept.sealedAnswer],
  );
  return rowCount === 1;
}

/**
 * Takes the renewal of a grant in hand until `until`, and answers the grant as it is by now: null when the consent has none
 * any more. Undefined while another process is at it; one that died holds it no longer than its lease.
 */
export async function claimRenewal(
  db: Queryable,
  { id, at, until }: Pick<Claim, 'id' | 'at' | 'until'>,
): Promise<{ sealedGrant: string | null } | undefined> {
  const { rows } = await db.query<{ sealedGrant: string | null }>(
    `UPDATE consents SET renewal_lease_until = $3
      WHERE id = $1 AND (renewal_lease_until IS NULL OR renewal_lease_until <= $2)
      RETURNING sealed_grant AS "sealedGrant"`,
    [id, at, until],
  );
  return rows[0];
}

/** Lets the next one in at once; does nothing when somebody else has taken the renewal in hand since `until`. */
export async function releaseRenewal(db: Queryable, { id, until }: Pick<Claim, 'id' | 'until'>): Promise<void> {
  await db.query('UPDATE consents SET renewal_lease_until = NULL WHERE id = $1 AND renewal_lease_until = $2', [
    id,
    until,
  ]);
}

/** Replaces the grant with what the bank made of it. One that has come by a new authorisation meanwhile stays. */
export async function replaceGrant(
  db: Queryable,
  { id, from, to, at }: { id: string; from: string; to: string; at: Date },
): Promise<void> {
  await db.query('UPDATE consents SET sealed_grant = $3, updated_at = $4 WHERE id = $1 AND sealed_grant = $2', [
    id,
    from,
    to,
    at,
  ]);
}
