import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { createPool, takeDue } from '#libs/database';
import { Notices } from '../../apps/bff/src/consents/notices.service.js';
import { takeReadyAccounts } from '../../apps/bff/src/sync/account-schedule.js';
import { startPostgres } from '../../apps/stack/src/embedded-postgres.js';
import { applyMigrations } from '../../prisma/migrate.js';
import { scheduleAccounts } from '../support/scheduled-accounts.js';
import { scheduleConnections } from '../support/scheduled-connections.js';
import { compare, type Figure, timed } from './harness.js';

const totals = [10_000, 100_000, 1_000_000];
const batch = 1_000;
const rounds = 5;
/** Enough for the warm-up and every round. */
const due = batch * (rounds + 1);

/** The least possible work: the same rows, known by their keys beforehand, updated in the same table. */
async function updateByKey(pool: Pool, ids: readonly string[]): Promise<number> {
  const text = `update account_schedules set ready_at = ready_at + interval '1 minute' where account_id = any($1)`;
  const { rowCount } = await pool.query(text, [ids]);
  return rowCount ?? 0;
}

async function take(pool: Pool): Promise<number> {
  const ids = await takeReadyAccounts(pool, batch);
  if (ids.length !== batch) throw new Error(`Only ${ids.length} of ${batch} accounts were due`);
  return ids.length;
}

/** Handing out 1,000 accounts that are due, of so many that are spread over 24 hours. */
async function figureOf(pool: Pool, connectionString: string, total: number): Promise<Figure> {
  await scheduleAccounts(connectionString, { total, due });
  const { rows } = await pool.query<{ id: string }>(
    'select account_id as id from account_schedules where due_at > now() order by account_id limit $1',
    [batch],
  );
  const keys = rows.map(({ id }) => id);
  const figure = await compare({
    name: `scheduling: tick of ${batch}, ${total} accounts`,
    unit: 'due rows',
    baseline: 'UPDATE of as many rows by primary key',
    rounds,
    runBaseline: () => timed(() => updateByKey(pool, keys)),
    runOurs: () => timed(() => take(pool)),
  });
  const ms = (1_000 * 1_000) / figure.oursPerSecond;
  return { ...figure, name: `${figure.name}: ${ms.toFixed(1)} ms` };
}

/** One side of a contest about rows of `connections`, which are made due before the clock runs. */
interface Clock {
  name: string;
  baseline: string;
  makeDue: string;
  run: (pool: Pool) => Promise<number>;
}

/** Telling of ends is more than handing out: plan and event of each connection are written, in the same transaction. */
const clocks: readonly Clock[] = [
  {
    name: 'notices of ends told',
    baseline: 'UPDATE of as many rows by primary key',
    makeDue: `update connections set stops_at = now() + interval '30 days', next_notice_at = now(), noticed_days = null where id = any($1)`,
    run: (pool) => new Notices(pool).run(),
  },
  {
    name: 'probes of consents handed out',
    baseline: 'UPDATE of as many rows by primary key',
    makeDue: `update connections set next_probe_at = now(), probe_lease_until = null where id = any($1)`,
    run: async (pool) => {
      const probes = { table: 'connections', dueColumn: 'next_probe_at', leaseColumn: 'probe_lease_until' };
      return (await takeDue(pool, { ...probes, leaseMs: 1_000, limit: batch })).length;
    },
  },
];

/** Dealing with 1,000 connections whose clock has come, of so many. */
async function clockFigureOf(pool: Pool, total: number, { name, baseline, makeDue, run }: Clock): Promise<Figure> {
  const { rows } = await pool.query<{ id: string }>('select id from connections order by id limit $1', [2 * batch]);
  const ids = rows.map(({ id }) => id);
  const [ours, theirs] = [ids.slice(0, batch), ids.slice(batch)];
  const figure = await compare({
    name: `scheduling: ${batch} ${name}, ${total} connections`,
    unit: 'due rows',
    baseline,
    rounds,
    runBaseline: () =>
      timed(async () => {
        const text = `update connections set next_probe_at = next_probe_at + interval '1 minute' where id = any($1)`;
        return (await pool.query(text, [theirs])).rowCount ?? 0;
      }),
    runOurs: async () => {
      await pool.query(makeDue, [ours]);
      const sample = await timed(() => run(pool));
      if (sample.units !== batch) throw new Error(`${sample.units} of ${batch} connections were due`);
      // What was handed out is not due in the next round.
      await pool.query(`update connections set next_probe_at = now() + interval '1 day' where id = any($1)`, [ours]);
      return sample;
    },
  });
  const ms = (1_000 * 1_000) / figure.oursPerSecond;
  return { ...figure, name: `${figure.name}: ${ms.toFixed(1)} ms` };
}

/** What a scheduler's tick costs at 10 thousand, 100 thousand and a million accounts, and as many connections. */
export async function scheduling(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tributary-bench-'));
  const server = await startPostgres({ dataDir });
  try {
    await applyMigrations('bff', server.connectionString);
    const pool = createPool({ connectionString: server.connectionString, schema: 'bff' });
    const figures: Figure[] = [];
    for (const total of totals) figures.push(await figureOf(pool, server.connectionString, total));
    for (const total of totals) {
      await scheduleConnections(server.connectionString, total);
      for (const clock of clocks) figures.push(await clockFigureOf(pool, total, clock));
    }
    await pool.end();
    return figures;
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
