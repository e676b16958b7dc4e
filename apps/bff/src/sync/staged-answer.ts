import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import type { Transaction } from '#libs/contract';
import type { Queryable } from '#libs/database';
import { copyRows } from './copy-rows.js';
import { rowOf } from './transaction-row.js';

/** Rows that were staged are not there any more: another reading of the account has begun, or Postgres was restarted. */
export class StageLost extends Error {
  override readonly name = 'StageLost';
}

const columns = [
  'account_id',
  'answer_id',
  'ordinal',
  'status',
  'booked_at',
  'value_at',
  'amount',
  'amount_minor',
  'currency',
  'description',
  'bank_id',
  'reference',
  'fingerprint',
  'body',
];

/**
 * The pages of one answer of a bank, put aside in the database as they come, so that a long history needs no more memory here
 * than one page. Nothing is recorded of it before `recordAnswer`.
 */
export class StagedAnswer {
  /** Of this reading alone. */
  readonly id = randomUUID();
  /** Rows so far. */
  size = 0;

  private constructor(
    private readonly pool: Pool,
    readonly accountId: string,
  ) {}

  /** Begins an answer. Whatever an earlier reading of the account has left behind is swept away. */
  static async open(pool: Pool, { accountId }: { accountId: string }): Promise<StagedAnswer> {
    await pool.query('delete from staged_rows where account_id = $1', [accountId]);
    return new StagedAnswer(pool, accountId);
  }

  /** Rows that are no answer, put aside for a correction; a reading that is under way keeps its own. */
  static beside(pool: Pool, { accountId }: { accountId: string }): StagedAnswer {
    return new StagedAnswer(pool, accountId);
  }

  /** Puts one page aside. Pages come one after the other; their order does not matter. */
  async add(rows: readonly Transaction[]): Promise<void> {
    const client = await this.pool.connect();
    try {
      await this.addWith(client, rows);
    } finally {
      client.release();
    }
  }

  /** The same on a connection, and so perhaps in a transaction, of the caller's. */
  async addWith(client: PoolClient, rows: readonly Transaction[]): Promise<void> {
    const { accountId, id } = this;
    await copyRows(
      client,
      { table: 'staged_rows', columns },
      rows.map((transaction, index) => {
        const { bankId, bookedAt, valueAt, amountMinor, ...row } = rowOf(transaction);
        const what = [amountMinor, row.currency, row.description, bankId, row.reference, row.fingerprint, row.body];
        return [accountId, id, this.size + index, row.status, bookedAt, valueAt, row.amount, ...what];
      }),
    );
    this.size += rows.length;
  }

  /** Throws StageLost unless every row that was added is there. */
  async assertWhole(client: Queryable): Promise<void> {
    const { rows } = await client.query<{ count: string }>(
      'select count(*) from staged_rows where account_id = $1 and answer_id = $2',
      [this.accountId, this.id],
    );
    if (Number(rows[0]?.count) !== this.size) throw new StageLost('Staged rows are missing');
  }

  async discard(client: Queryable = this.pool): Promise<void> {
    await client.query('delete from staged_rows where account_id = $1 and answer_id = $2', [this.accountId, this.id]);
  }
}
