import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { pageSizeMax, type Transaction } from '#libs/contract';
import type { Queryable } from '#libs/database';
import { copyRows } from './copy-rows.js';
import { dateOf } from './coverage.js';
import { RecognisedRows } from './recognised-rows.js';
import { servedRest } from './served-text.js';
import { identityOf, rowOf, type TransactionRow } from './transaction-row.js';

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
  'served',
];

/** What an answer holds, whether put aside or recognised. */
interface Given {
  rows: number;
  /** Rows with an id of the bank. */
  ids: number;
  /** The date of the first of them. */
  earliest: Date | null;
}

const nothing: Given = { rows: 0, ids: 0, earliest: null };

/**
 * The pages of one answer of a bank, put aside in the database as they come, so that a long history needs no more memory here
 * than one page. Rows that say nothing new are only marked (`RecognisedRows`). Nothing is recorded before `recordAnswer`.
 */
export class StagedAnswer {
  /** Of this reading alone. */
  readonly id = randomUUID();
  /** Rows put aside so far. */
  size = 0;
  given = nothing;

  private constructor(
    private readonly pool: Pool,
    private account: string,
    private readonly recognised: RecognisedRows,
  ) {}

  /** Begins an answer. Whatever an earlier reading of the account has left behind is swept away. */
  static async open(pool: Pool, { accountId }: { accountId: string }): Promise<StagedAnswer> {
    await pool.query('delete from staged_rows where account_id = $1', [accountId]);
    return new StagedAnswer(pool, accountId, await RecognisedRows.begin(pool, accountId));
  }

  /** Begins an answer beside one that is under way. */
  static async another(pool: Pool, { accountId }: { accountId: string }): Promise<StagedAnswer> {
    return new StagedAnswer(pool, accountId, await RecognisedRows.begin(pool, accountId));
  }

  /** Rows that are no answer, put aside for a correction; a reading that is under way keeps its own. */
  static beside(pool: Pool, { accountId }: { accountId: string }): StagedAnswer {
    return new StagedAnswer(pool, accountId, RecognisedRows.none(accountId));
  }

  get accountId(): string {
    return this.account;
  }

  /** See `unrecognisedSql`. */
  get marks(): Buffer {
    return this.recognised.marks;
  }

  /** Takes one page. Pages come one after the other; their order does not matter. */
  async add(page: readonly Transaction[]): Promise<void> {
    const rows = page.map((transaction) => ({ transaction, ...identityOf(transaction) }));
    const client = await this.pool.connect();
    try {
      const recognised = await this.recognised.among(client, rows);
      const others = rows.filter((row) => !recognised.has(row));
      await this.copy(
        client,
        others.map(({ transaction, ...identity }) => rowOf(transaction, identity)),
      );
      this.recognised.mark(recognised.values());
    } finally {
      client.release();
    }
    const times = rows.flatMap((row) => dateOf(row)?.getTime() ?? []);
    const earliest = Math.min(...times, this.given.earliest?.getTime() ?? Number.POSITIVE_INFINITY);
    this.given = {
      rows: this.given.rows + rows.length,
      ids: this.given.ids + rows.filter(({ bankId }) => bankId !== null).length,
      earliest: Number.isFinite(earliest) ? new Date(earliest) : null,
    };
  }

  /** Puts all of the rows aside, on a connection, and so perhaps in a transaction, of the caller's. */
  async addWith(client: PoolClient, rows: readonly Transaction[]): Promise<void> {
    await this.copy(
      client,
      rows.map((transaction) => rowOf(transaction)),
    );
  }

  private async copy(client: PoolClient, rows: readonly TransactionRow[]): Promise<void> {
    if (rows.length === 0) return;
    const { accountId, id } = this;
    await copyRows(
      client,
      { table: 'staged_rows', columns },
      rows.map(({ bankId, bookedAt, valueAt, amountMinor, body, ...row }, index) => {
        const what = [amountMinor, row.currency, row.description, bankId, row.reference, row.fingerprint];
        const served = servedRest({ bankId, body });
        return [accountId, id, this.size + index, row.status, bookedAt, valueAt, row.amount, ...what, served];
      }),
    );
    this.size += rows.length;
  }

  /**
   * Makes sure that the answer can be recorded: what was recognised and has changed since is put aside after all. In the
   * recording transaction, with the account locked. Throws StageLost where rows are missing or too many have changed.
   */
  async confirm(tx: PoolClient): Promise<void> {
    const { rows } = await tx.query<{ count: string }>(
      'select count(*) from staged_rows where account_id = $1 and answer_id = $2',
      [this.accountId, this.id],
    );
    if (Number(rows[0]?.count) !== this.size) throw new StageLost('Staged rows are missing');
    const changed = await this.recognised.release(tx);
    if (changed.length > pageSizeMax) throw new StageLost('Another reading has been recorded');
    await this.addWith(tx, changed);
  }

  /** It is the answer of another account, as has turned out. For one of which nothing was recognised. */
  async moveTo(tx: PoolClient, accountId: string): Promise<void> {
    const text = 'update staged_rows set account_id = $3 where account_id = $1 and answer_id = $2';
    await tx.query(text, [this.account, this.id, accountId]);
    this.account = accountId;
  }

  /** Forgets all rows. */
  async discard(client: Queryable = this.pool): Promise<void> {
    await client.query('delete from staged_rows where account_id = $1 and answer_id = $2', [this.accountId, this.id]);
    this.size = 0;
    this.given = nothing;
    this.recognised.clear();
  }
}
