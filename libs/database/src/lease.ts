import { now } from '#libs/server';
import type { Queryable } from './transaction.js';

/** The right to be the only writer of a resource for a while. */
export interface Lease {
  resource: string;
  /** Greater than every token given out for this resource before: the fence. */
  token: string;
}

/** Somebody else has taken over: what was being written must not be. */
export class LeaseLostError extends Error {
  constructor(resource: string) {
    super(`The lease of ${resource} is no longer held.`);
    this.name = 'LeaseLostError';
  }
}

/** Takes the lease, or answers undefined while another holder's has not run out. */
export async function acquireLease(
  client: Queryable,
  { resource, ttlMs }: { resource: string; ttlMs: number },
): Promise<Lease | undefined> {
  const at = now();
  const { rows } = await client.query<{ token: string }>(
    `INSERT INTO leases AS held (resource, token, expires_at) VALUES ($1, 1, $3)
     ON CONFLICT (resource) DO UPDATE SET token = held.token + 1, expires_at = excluded.expires_at
      WHERE held.expires_at <= $2
     RETURNING token::text`,
    [resource, at, new Date(at.getTime() + ttlMs)],
  );
  return rows[0] && { resource, token: rows[0].token };
}

/**
 * Throws `LeaseLostError` unless the lease is still the newest one. Call it inside the transaction that writes, first: it
 * locks the lease's row, so nobody can take over until that transaction has ended. An expired lease that nobody
 * took since is still good; the fence is the token, not the time.
 */
export async function assertLease(client: Queryable, { resource, token }: Lease): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM leases WHERE resource = $1 AND token = $2 FOR UPDATE', [
    resource,
    token,
  ]);
  if (rowCount !== 1) throw new LeaseLostError(resource);
}

/** Keeps a lease for another while; throws `LeaseLostError` when somebody else has taken it meanwhile. */
export async function renewLease(client: Queryable, { resource, token }: Lease, ttlMs: number): Promise<void> {
  const expiresAt = new Date(now().getTime() + ttlMs);
  const text = 'UPDATE leases SET expires_at = $3 WHERE resource = $1 AND token = $2';
  const { rowCount } = await client.query(text, [resource, token, expiresAt]);
  if (rowCount !== 1) throw new LeaseLostError(resource);
}

/** Lets the next one in at once; does nothing where the lease is already somebody else's. */
export async function releaseLease(client: Queryable, { resource, token }: Lease): Promise<void> {
  await client.query('UPDATE leases SET expires_at = $3 WHERE resource = $1 AND token = $2', [resource, token, now()]);
}
