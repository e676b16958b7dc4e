import pg from 'pg';

/** Anything that runs SQL: the pool, or one connection of it. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

/**
 * Runs `work` between BEGIN and COMMIT on one connection; rolls back and throws on when it throws. The scope in force
 * when it is called holds for all of it.
 */
export async function transaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that cannot even roll back is thrown away; the first error is the one that matters.
    await client.query('ROLLBACK').catch(() => (broken = true));
    throw error;
  } finally {
    client.release(broken);
  }
}

const attemptsMax = 3;

/**
 * As `transaction`, but begun again where Postgres ended it because two transactions waited for each other (40P01). `work` may so
 * run more than once, and does nothing outside of the database. For what somebody waits for.
 */
export async function insistentTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  attempts = attemptsMax,
): Promise<T> {
  try {
    return await transaction(pool, work);
  } catch (error) {
    if (attempts <= 1 || codeOf(error) !== '40P01') throw error;
    return insistentTransaction(pool, work, attempts - 1);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** True where Postgres (23505) or Prisma (P2002) refused a second row with the same unique key. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505' || codeOf(error) === 'P2002';
}
