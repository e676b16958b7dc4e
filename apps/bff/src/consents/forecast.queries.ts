import type { Pool } from 'pg';
import { now } from '#libs/server';
import { ConnectionStatus } from '../connections/connection-state.js';
import { cutPage, readListCursor } from '../cursor.js';
import type { ConnectionForecast, ForecastPage } from './forecast.dto.js';
import { forecastOf, type ForecastRow } from './forecast.js';

interface Row extends ForecastRow {
  customer_id: string;
  institution_id: string;
  account_ids: string[];
}

const columns = `c.id, c.customer_id, c.institution_id, c.status, c.reason, c.health, c.authorised_at, c.expires_at,
  c.sca_until, c.reconfirm_by, c.reconfirmable, c.stops_at, c.stop_cause, c.features,
  coalesce((select min(due_at) from account_schedules where connection_id = c.id), c.next_sync_at) as next_sync_at,
  coalesce((select problem from account_schedules where connection_id = c.id and problem is not null order by account_id limit 1),
    (select problem from sync_runs where connection_id = c.id order by started_at desc limit 1)) as problem,
  array(select id from accounts where connection_id = c.id order by id) as account_ids`;

/** The forecast of one of a customer's connections. */
export async function selectForecast(
  pool: Pool,
  { customerId, id }: { customerId: string; id: string },
): Promise<ConnectionForecast | undefined> {
  const { rows } = await pool.query<Row>(
    `select ${columns} from connections c where c.customer_id = $1 and c.id = $2`,
    [customerId, id],
  );
  return rows[0] && toForecast(rows[0]);
}

/** What of a merchant's connections stops before an instant, and what has stopped and waits for its customer. */
export async function selectForecasts(
  pool: Pool,
  {
    merchantId,
    before,
    cursor,
    limit,
  }: { merchantId: string; before: Date; cursor?: string | undefined; limit: number },
): Promise<ForecastPage> {
  const list = ['forecasts', merchantId];
  const after = cursor === undefined ? undefined : readListCursor(cursor, list);
  const { rows } = await pool.query<Row & { stops_at: Date }>(
    `select ${columns} from connections c
     where c.merchant_id = $1 and c.stops_at < $2 and c.status = any($3)
       and ($4::timestamptz is null or (c.stops_at, c.id) > ($4, $5::uuid))
     order by c.stops_at, c.id limit $6`,
    [
      merchantId,
      before,
      [ConnectionStatus.active, ConnectionStatus.needsUser],
      after?.date ?? null,
      after?.id ?? null,
      limit + 1,
    ],
  );
  const { page, more } = cutPage(rows, limit, { list, placeOf: ({ stops_at: date, id }) => ({ date, id }) });
  return { data: page.map(toForecast), ...more };
}

function toForecast(row: Row): ConnectionForecast {
  return {
    connectionId: row.id,
    customerId: row.customer_id,
    institutionId: row.institution_id,
    ...forecastOf(row, now()),
    accountIds: row.account_ids,
  };
}
