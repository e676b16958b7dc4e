import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { pageSizeMax } from '#libs/contract';
import { createPool, transaction } from '#libs/database';
import { type RunningPostgres, startPostgres } from '../../apps/stack/src/embedded-postgres.js';
import { recordAnswer } from '../../apps/bff/src/sync/record-answer.js';
import { StagedAnswer } from '../../apps/bff/src/sync/staged-answer.js';
import { applyMigrations } from '../../prisma/migrate.js';
import { benchFolder } from './aggregator-world.js';
import { compare, type Figure, type Sample, timed } from './harness.js';
import { holding } from './holding.js';
import { syncedRows } from './synced-rows.js';

const count = 20_000;
const rounds = 5;
const tables = ['transactions', 'changes'] as const;

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

/** What the BFF does with one account's complete answer: stage its pages; then match, log and project in one transaction. */
async function importRows(
  pool: pg.Pool,
  { customerId, accountId, merchantId }: Place,
  answer: ReturnType<typeof syncedRows>,
): Promise<number> {
  const staged = await StagedAnswer.open(pool, { accountId });
  for (let at = 0; at < answer.length; at += pageSizeMax) await staged.add(answer.slice(at, at + pageSizeMax));
  await transaction(pool, async (tx) => {
    await recordAnswer(
      tx,
      { customerId, accountId, syncRunId: randomUUID(), institutionId: 'bank', merchantId },
      { staged, window: { from: null, before: null }, balances: undefined },
    );
  });
  await staged.discard();
  return answer.length;
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

/** Import of one account's history, and the same answer a second time, against COPY without any matching. */
export function syncRecord(): Promise<Figure[]> {
  return holding(async (hold) => {
    const { dataDir } = await hold(benchFolder());
    return compareImports(await hold(startPostgres({ dataDir })));
  });
}

async function compareImports(server: RunningPostgres): Promise<Figure[]> {
  const owner = new pg.Pool({ connectionString: server.connectionString, options: '-c search_path=bff' });
  // An ended pool still hears of the end of the database.
  owner.on('error', () => {});
  const pool = createPool({ connectionString: server.connectionString, schema: 'bff' });
  try {
    await applyMigrations('bff', server.connectionString);
    const place = await makePlace(pool);
    const answer = syncedRows(count);
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
  } finally {
    await pool.end();
    await owner.end();
  }
}
