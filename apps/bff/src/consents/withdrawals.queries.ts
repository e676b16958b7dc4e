import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { now } from '#libs/server';

/** A synchronisation under way with the old token has this long to end. */
const graceMs = 10_000;

/** Has a consent end at the bank: in the transaction that makes it unneeded, so that none is forgotten. */
export async function retire(
  client: PoolClient,
  retired: { merchantId: string; connectionId: string; consentId: string; reason: string },
): Promise<void> {
  const at = now();
  await client.query(
    `insert into withdrawals (id, merchant_id, connection_id, consent_id, reason, created_at, next_attempt_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (consent_id) do nothing`,
    [
      randomUUID(),
      retired.merchantId,
      retired.connectionId,
      retired.consentId,
      retired.reason,
      at,
      new Date(at.getTime() + graceMs),
    ],
  );
}
