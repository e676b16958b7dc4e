import pg from 'pg';

/**
 * Fills the schedule of accounts, and nothing else of the database: `total` accounts that are due evenly over 24 hours, of
 * which the longest overdue `due` are due already, and the next not for some minutes. Needs a superuser's connection string, because the accounts themselves
 * are left out.
 */
export async function scheduleAccounts(url: string, { total, due }: { total: number; due: number }): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    options: '-c search_path=bff -c session_replication_role=replica',
  });
  await client.connect();
  try {
    await client.query('truncate account_schedules');
    await client.query(
      `insert into account_schedules (account_id, connection_id, due_at, ready_at)
       select gen_random_uuid(), gen_random_uuid(), at, at
       from (select now() + (n - $2) * interval '24 hours' / $1::float8 + case when n > $2 then interval '10 minutes' else interval '-1 second' end as at
             from generate_series(1, $1::bigint) n order by hashint8(n)) u`,
      [total, due],
    );
    await client.query('vacuum analyze account_schedules');
  } finally {
    await client.end();
  }
}
