import pg from 'pg';

/**
 * Fills the connections, and nothing else but their one merchant: `total` active ones whose consents end, and whose notices and probes
 * are due, evenly over 180 days and 24 hours, of which none is due for some minutes. Needs a superuser's connection string, because
 * the customers are left out.
 */
export async function scheduleConnections(url: string, total: number): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    options: '-c search_path=bff -c session_replication_role=replica',
  });
  await client.connect();
  try {
    await client.query('truncate connections, merchants, events cascade');
    const { rows } = await client.query<{ id: string }>(
      `insert into merchants (id, name, merchant_category_code, ppc_user_group, is_contract_present, status, return_urls, allowed_origins, created_at)
       values (gen_random_uuid(), 'Shop', '5411', 'CONSUMER_GOODS_SERVICES', true, 'active', '{}', '{}', now()) returning id`,
    );
    await client.query(
      `insert into connections (id, customer_id, merchant_id, institution_id, status, created_at, authorised_at, expires_at, stops_at,
         stop_cause, next_notice_at, next_probe_at)
       select gen_random_uuid(), gen_random_uuid(), $2, 'bank', 'active', now(), now(), ends, ends, 'consent-expiry',
         ends - interval '30 days', now() + interval '10 minutes' + n * interval '24 hours' / $1::float8
       from (select n, now() + interval '31 days' + n * interval '149 days' / $1::float8 as ends
             from generate_series(1, $1::bigint) n order by hashint8(n)) u`,
      [total, rows[0]?.id],
    );
    await client.query('vacuum analyze connections');
  } finally {
    await client.end();
  }
}
