import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { pageSizeMax, type Transaction } from '#libs/contract';
import { createPool, transaction } from '#libs/database';
import { startPostgres } from '../../apps/stack/src/embedded-postgres.js';
import { recordAnswer } from '../../apps/bff/src/sync/record-answer.js';
import { StagedAnswer } from '../../apps/bff/src/sync/staged-answer.js';
import { applyMigrations } from '../../prisma/migrate.js';
import { benchFolder } from './aggregator-world.js';
import { type Bound, compare, type Figure, type Sample, timed } from './harness.js';
import { holding } from './holding.js';
import { syncedRows } from './synced-rows.js';

const count = 20_000;
const rounds = 5;
const tables = ['transactions', 'changes'] as const;

setFlagsFromString('--expose-gc');
/** Only what is still needed is to be counted. */
const collect = runInNewContext('gc') as () => void;

interface Place {
  merchantId: string;
  customerId: string;
  accountId: string;
}

async function makePlace(pool: pg.Pool): Promise<Place> {
  const [merchantId, customerId, connection, accountId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  await pool.query(
    `insert into merchants (id, name, merchant_category_code, ppc_user_group, is_contract_present, status, created_at)
     values ($1, 'Shop', '5411', 'TAX', false, 'active', now())`,
    [merchantId],
  );
  await pool.query(`insert into customers (id, merchant_id, reference, created_at) values ($1, $2, 'c', now())`, [
    customerId,
    merchantId,
  ]);
  await pool.query(
    `insert into connections (id, customer_id, merchant_id, institution_id, status, created_at)
     values ($1, $2, $3, 'bank', 'active', now())`,
    [connection, customerId, merchantId],
  );
  await pool.query(
    `insert into accounts (id, customer_id, connection_id, institution_id, identification_hash, aggregator_account_id, wire, created_at)
     values ($1, $2, $3, 'bank', 'hash', 'acc', '{}', now())`,
    [accountId, customerId, connection],
  );
  return { merchantId, customerId, accountId };
}

/** An answer of `rows` rows, page by page. */
function* pages(rows: number): Generator<Transaction[]> {
  for (let at = 0; at < rows; at += pageSizeMax) yield syncedRows(Math.min(pageSizeMax, rows - at), at);
}

/** What the BFF does with one account's complete answer: stage its pages; then match, log and project in one transaction. */
async function importRows(
  pool: pg.Pool,
  { customerId, accountId, merchantId }: Place,
  answer: Iterable<Transaction[]>,
  onStep = () => {},
): Promise<number> {
  const staged = await StagedAnswer.open(pool, { accountId });
  for (const page of answer) {
    await staged.add(page);
    onStep();
  }
  await transaction(pool, async (tx) => {
    await recordAnswer(
      tx,
      { customerId, accountId, syncRunId: randomUUID(), institutionId: 'bank', merchantId },
      { staged, window: { from: null, before: null }, balances: undefined },
    );
    onStep();
  });
  const { rows } = staged.given;
  await staged.discard();
  return rows;
}

/** The rows that an import left, as COPY's text. */
async function copyOut(pool: pg.Pool, table: string): Promise<Buffer> {
  const client = await pool.connect();
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of client.query(to(`copy ${table} to stdout`))) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  } finally {
    client.release();
  }
}

/** The least possible work for the same rows in the same tables: one connection, COPY of ready text. */
function copyIn(pool: pg.Pool, texts: Record<string, Buffer>): Promise<number> {
  return transaction(pool, async (tx) => {
    for (const table of tables) {
      await pipeline(Readable.from([texts[table]]), tx.query(from(`copy ${table} from stdin`)));
    }
    return count;
  });
}

interface World {
  pool: pg.Pool;
  /** Of the superuser, in the BFF's schema. */
  owner: pg.Pool;
  place: Place;
}

/** Runs `work` on a database of its own with one account. */
function withAccount<T>(work: (world: World) => Promise<T>): Promise<T> {
  return holding(async (hold) => {
    const { dataDir } = await hold(benchFolder());
    const { connectionString } = await hold(startPostgres({ dataDir }));
    const owner = new pg.Pool({ connectionString, options: '-c search_path=bff' });
    // A pool that was ended still hears that the database ends.
    owner.on('error', () => {});
    const pool = createPool({ connectionString, schema: 'bff' });
    try {
      await applyMigrations('bff', connectionString);
      return await work({ pool, owner, place: await makePlace(pool) });
    } finally {
      await pool.end();
      await owner.end();
    }
  });
}

/** Import of one account's history, and the same answer a second time, against COPY without any matching. */
export function syncRecord(): Promise<Figure[]> {
  return withAccount(async ({ pool, owner, place }) => {
    const answer = [...pages(count)];
    const empty = async (): Promise<unknown> => owner.query('truncate transactions, changes');
    await importRows(pool, place, answer);
    const texts = { transactions: await copyOut(pool, 'transactions'), changes: await copyOut(pool, 'changes') };
    const runBaseline = async (): Promise<Sample> => {
      await empty();
      return timed(() => copyIn(pool, texts));
    };
    const baseline = 'one COPY of the same rows into the same tables';
    const figures = [
      await compare({
        name: 'sync-record: first import',
        unit: 'rows',
        baseline,
        rounds,
        runBaseline,
        runOurs: async () => {
          await empty();
          return timed(() => importRows(pool, place, answer));
        },
      }),
      await compare({
        name: 'sync-record: unchanged again',
        unit: 'rows',
        baseline,
        rounds,
        runBaseline,
        runOurs: () => timed(() => importRows(pool, place, answer)),
      }),
    ];
    return figures;
  });
}

/** The most memory that an import needs beyond what the process has, in megabytes: of what is still in use at each step. */
async function memoryOf(world: World, rows: number): Promise<number> {
  const used = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 2 ** 20;
  };
  const before = used();
  let most = before;
  let steps = 0;
  await importRows(world.pool, world.place, pages(rows), () => {
    steps += 1;
    if (steps % 5 === 1 || steps > rows / pageSizeMax) most = Math.max(most, used());
  });
  return Number((most - before).toFixed(1));
}

/** The memory of an import is that of a page: ten times the history may need only the few kilobytes of marks more. */
export function syncMemory(): Promise<Bound[]> {
  return withAccount(async (world) => {
    const measured = async (rows: number): Promise<number[]> => {
      await world.owner.query('truncate transactions, changes');
      return [await memoryOf(world, rows), await memoryOf(world, rows)];
    };
    const [little, much] = [20_000, 200_000];
    // The first one brings the code.
    await measured(pageSizeMax);
    const baselines = await measured(little);
    const values = await measured(much);
    return ['first import', 'unchanged again'].map((what, index): Bound => {
      const [baseline = 0, value = Number.NaN] = [baselines[index], values[index]];
      const name = `sync-memory: ${what}, ${much} rows beside ${little}`;
      return { name, unit: 'MB', value, bound: Number((baseline + 4).toFixed(1)), baseline };
    });
  });
}
