import type { PoolClient } from 'pg';

/**
 * Runs statements of the caller's transaction with their joins hashed, so that their time grows with the rows whatever the planner
 * expects of them. Of rows that are newer than its statistics it expects one, and would go through all of the other side for
 * each. What is joined should be restricted on its own, because no side is looked up row by row.
 */
export async function withHashedJoins(tx: PoolClient, run: () => Promise<void>): Promise<void> {
  await tx.query('set local enable_nestloop = off');
  await run();
  await tx.query('set local enable_nestloop to default');
}
