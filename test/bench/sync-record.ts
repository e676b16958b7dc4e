import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { createPool, transaction } from '#libs/database';
import { startPostgres } from '../../apps/stack/src/embedded-postgres.js';
import { knownTransactions, recordChanges } from '../../apps/bff/src/sync/record-changes.js';
import { reconcile } from '../../apps/bff/src/sync/reconcile.js';
import { rowOf } from '../../apps/bff/src/sync/transaction-row.js';
import { applyMigrations } from '../../prisma/migrate.js';
import { compare, type Figure, type Sample, timed } from './harness.js';
import { syncedRows } from './synced-rows.js';

const count = 20_000;
const rounds = 5;
const tables = ['transactions', 'changes'] as const;

interface Place {
  customerId: string;
  accountId: string;
}

async function makePlace(pool: pg.Pool): Promise<Place> {
  const [merchant, customerId, connection, accountId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  await pool.query(
    `insert into merchants (id, name, merchant_category_code, ppc_user_group, is_contract_present, status, created_at)
     values ($1, 'Shop', '5411', 'TAX', false, 'active', now())`,
    [merchant],
  );
  await pool.query(`insert into customers (id, merchant_id, reference, created_at) values ($1, $2, 'c', now())`, [
    customerId,
    merchant,
  ]);
  await pool.query(
    `insert into connections (id, customer_id, merchant_id, institution_id, status, created_at)
     values ($1, $2, $3, 'bank', 'active', now())`,
    [connection, customerId, merchant],
  );
  await pool.query(
    `insert into accounts (id, customer_id, connection_id, institution_id, identification_hash, aggregator_account_id, wire, created_at)
     values ($1, $2, $3, 'bank', 'hash', 'acc', '{}', now())`,
    [accountId, customerId, connection],
  );
  return { customerId, accountId };
}

/** What the BFF does with one account's complete answer: match, log and project, in one transaction. */
function importRows(
  pool: pg.Pool,
  { customerId, accountId }: Place,
  answer: ReturnType<typeof syncedRows>,
): Promise<number> {
  return transaction(pool, async (tx) => {
    const known = await knownTransactions(tx, accountId);
    const changes = reconcile(known, { rows: answer.map(rowOf), from: null, before: null }, () => randomUUID());
    await recordChanges(tx, { customerId, accountId, syncRunId: randomUUID() }, changes);
    return answer.length;
  });
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
export async function syncRecord(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tributary-bench-'));
  const server = await startPostgres({ dataDir });
  const owner = new pg.Pool({ connectionString: server.connectionString, options: '-c search_path=bff' });
  try {
    await applyMigrations('bff', server.connectionString);
    const pool = createPool({ connectionString: server.connectionString, schema: 'bff' });
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
    await pool.end();
    return figures;
  } finally {
    await owner.end();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
