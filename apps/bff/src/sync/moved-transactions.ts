import type { PoolClient } from 'pg';
import { now } from '#libs/server';
import { payloadOf } from './change-log.js';
import { withHashedJoins } from './hashed-joins.js';
import { takeNumbers } from './record-changes.js';
import { movedSql } from './served-text.js';

/**
 * Puts all transactions of an account, also removed ones, under another account: each with an entry in the log, in the order
 * of their last changes. In the caller's transaction, with both accounts locked.
 */
export async function moveTransactions(
  tx: PoolClient,
  { customerId, from, to }: { customerId: string; from: string; to: string },
): Promise<void> {
  const { rows } = await tx.query<{ count: number }>(
    'select count(*)::int as count from transactions where account_id = $1',
    [from],
  );
  const count = rows[0]?.count ?? 0;
  if (count === 0) return;
  const first = await takeNumbers(tx, customerId, count);
  await withHashedJoins(tx, async () => {
    await tx.query(
      `with moved as (
         select id, $3::bigint + row_number() over (order by sequence) - 1 as sequence from transactions where account_id = $1
       ), logged as (
         insert into changes (customer_id, sequence, kind, account_id, transaction_id, recorded_at, payload)
         select $4, sequence, 'moved', $2, id, $5, $6 from moved
       )
       update transactions t set account_id = $2, sequence = moved.sequence, wire = ${movedSql({ wire: 't.wire', accountId: '$2::text' })}
       from moved where t.account_id = $1 and t.id = moved.id`,
      [from, to, first, customerId, now(), payloadOf({ kind: 'moved', id: '', from })],
    );
  });
}
