import type { Pool } from 'pg';
import { now } from '#libs/server';

/** While a callback is being finished, a second hit waits for its result instead of exchanging again. */
export const callbackClaimMs = 30_000;

/** Which rows wait for callbacks, and the instant at which a worker looks after each. */
const dueColumns = { connections: 'next_sync_at', renewals: 'next_look_at', payments: 'next_poll_at' } as const;

/** Only one hit finishes a callback; a claim whose holder crashed is void after half a minute, when a worker looks. */
export async function claimCallback(pool: Pool, table: keyof typeof dueColumns, id: string): Promise<boolean> {
  const at = now();
  const due = dueColumns[table];
  const { rowCount } = await pool.query(
    `update ${table} set state_used_at = $2, ${due} = least(${due}, $4)
      where id = $1 and (state_used_at is null or state_used_at < $3)`,
    [id, at, new Date(at.getTime() - callbackClaimMs), new Date(at.getTime() + callbackClaimMs)],
  );
  return rowCount === 1;
}
