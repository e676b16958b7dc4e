import { createHash } from 'node:crypto';
import type pg from 'pg';
import { createPool } from '#libs/database';
import { startPostgres } from '../../../apps/stack/src/embedded-postgres.js';
import { newAccount, take } from '../../../apps/bff/src/sync/recorded-account.fixture.js';
import { logOf, projected, tableOf } from '../../../apps/bff/src/sync/replayed-log.fixture.js';
import { applyMigrations } from '../../../prisma/migrate.js';
import { benchFolder } from '../aggregator-world.js';
import { holding } from '../holding.js';
import type { Labelled } from './bank.js';
import { answersOf } from './judge.js';
import { pathologies } from './pathologies.js';

interface Sample {
  seed: number;
  /** True transactions of each history. */
  count: number;
  /** Of these pathologies. */
  names: readonly string[];
}

/** The same in a database of its own. */
export function recordHistories(sample: Sample): Promise<string[]> {
  return holding(async (hold) => {
    const { dataDir } = await hold(benchFolder());
    const { connectionString } = await hold(startPostgres({ dataDir }));
    await applyMigrations('bff', connectionString);
    const pool = createPool({ connectionString, schema: 'bff' });
    try {
      return await recordedFaults(pool, sample);
    } finally {
      await pool.end();
    }
  });
}

/**
 * Takes one history of each of some pathologies the way that synchronisations go: stage, Postgres, log. Answers what is wrong: rows that
 * an answer shows as booked and the table does not have, and logs that do not rebuild the table to the same hash.
 */
export async function recordedFaults(pool: pg.Pool, { seed, count, names }: Sample): Promise<string[]> {
  const faults: string[] = [];
  for (const name of names) {
    const account = await newAccount(pool);
    for (const { rows, from } of answersOf(seed, pathologies[name] ?? {}, count)) {
      await take(pool, account, rows.map(shown), { window: { from, before: null } });
      if (await lacks(pool, account.accountId, rows)) faults.push(`recorded, seed ${seed}: ${name} has lost a row`);
    }
    const [table, log] = [await tableOf(pool, account), projected(await logOf(pool, account))];
    if (hashOf(table) !== hashOf(log)) faults.push(`recorded, seed ${seed}: the log of ${name} makes another table`);
  }
  return faults;
}

function shown({ bankId, body }: Labelled): object {
  return { ...(bankId === null ? {} : { id: bankId }), ...(JSON.parse(body) as object) };
}

/** Whether more equal booked rows were shown than are known. */
async function lacks(pool: pg.Pool, accountId: string, rows: readonly Labelled[]): Promise<boolean> {
  const { rows: known } = await pool.query<{ fingerprint: string; count: string }>(
    `select fingerprint, count(*) from transactions where account_id = $1 and (removed_at is null or joined_into is not null)
     group by fingerprint`,
    [accountId],
  );
  const counts = new Map(known.map(({ fingerprint, count }) => [fingerprint, Number(count)]));
  const booked = Map.groupBy(
    rows.filter(({ status }) => status === 'BOOKED'),
    ({ fingerprint }) => fingerprint,
  );
  return [...booked].some(([fingerprint, equal]) => equal.length > (counts.get(fingerprint) ?? 0));
}

/** Whatever the order of the columns. */
function hashOf(table: readonly unknown[]): string {
  const lines = table.map((line) => Object.entries(line as object).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(JSON.stringify(lines)).digest('hex');
}
