import type { Queryable } from './consent.queries.js';

/** Writes a one-time token; called in the transaction that authorises its consent. */
export async function insertOneTimeToken(
  tx: Queryable,
  token: { hash: string; applicationId: string; consentId: string; createdAt: Date; expiresAt: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO one_time_tokens (hash, application_id, consent_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)`,
    [token.hash, token.applicationId, token.consentId, token.createdAt, token.expiresAt],
  );
}

/**
 * Uses a one-time token up and answers whose it was. One statement, so of two exchanges at once exactly one gets the
 * consent. Undefined when the token is unknown, foreign, used or too old.
 */
export async function redeemOneTimeToken(
  db: Queryable,
  hash: string,
  applicationIds: string[],
  at: Date,
): Promise<string | undefined> {
  const { rows } = await db.query<{ consentId: string }>(
    `UPDATE one_time_tokens SET used_at = $3
      WHERE hash = $1 AND application_id = ANY($2) AND used_at IS NULL AND expires_at > $3
      RETURNING consent_id AS "consentId"`,
    [hash, applicationIds, at],
  );
  return rows[0]?.consentId;
}

/** Removes tokens that nobody can use any more. */
export async function deleteStaleOneTimeTokens(db: Queryable, at: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM one_time_tokens
      WHERE hash IN (SELECT hash FROM one_time_tokens WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,
    [at, limit],
  );
  return rowCount ?? 0;
}
