import type { PoolClient } from 'pg';

/** A connection as it is while it is locked. */
export interface LockedConnection {
  status: string;
  consent_id: string | null;
}

/**
 * Locks a connection until the end of the transaction; undefined where there is none. Whoever changes a connection, or its run, its
 * accounts or their schedule, does this before touching any of them, so that no two wait for each other, and of two accounts that
 * end together the second one sees that it is the last. Who needs several takes `lockAccounts` first.
 */
export async function lockConnection(tx: PoolClient, id: string): Promise<LockedConnection | undefined> {
  const { rows } = await tx.query<LockedConnection>(
    'select status, consent_id from connections where id = $1 for no key update',
    [id],
  );
  return rows[0];
}

/** Locks all of a customer's connections to institutions, among which accounts may change hands. After `lockAccounts`. */
export async function lockConnectionsAt(
  tx: PoolClient,
  { customerId, institutionIds }: { customerId: string; institutionIds: readonly string[] },
): Promise<Map<string, LockedConnection>> {
  const { rows } = await tx.query<LockedConnection & { id: string }>(
    `select id, status, consent_id from connections where customer_id = $1 and institution_id = any($2)
     order by id for no key update`,
    [customerId, institutionIds],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Locks all of a customer's connections. After `lockAccounts`. */
export async function lockConnectionsOf(
  tx: PoolClient,
  { merchantId, customerId }: { merchantId: string; customerId: string },
): Promise<void> {
  const text = 'select 1 from connections where merchant_id = $1 and customer_id = $2 order by id for no key update';
  await tx.query(text, [merchantId, customerId]);
}
