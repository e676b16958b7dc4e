import type { Transaction } from '#libs/contract';
import type { Queryable } from '#libs/database';
import { dateOf } from './coverage.js';
import { transactionOf } from './served-text.js';
import type { RowIdentity } from './transaction-row.js';

/** Most transactions looked at for one page. What is beyond them is not recognised, which costs time and nothing else. */
const knownMax = 5_000;
/** The longest log of which transactions are recognised, so that the marks stay below two megabytes. */
const untilMax = 2 ** 24;

/** SQL that is true of a transaction whose row was not recognised. What has changed since lies beyond the marks. */
export function unrecognisedSql(marks: string): string {
  return `case when sequence < bit_length(${marks}::bytea) then get_bit(${marks}::bytea, sequence) = 0 else true end`;
}

/**
 * Which transactions an answer shows unchanged: booked, neither flagged nor another face, and so not worth another look. Of
 * each a single bit is kept, at the number of its last change in the customer's log. A change that comes while the pages are
 * read has a later number, so the log tells in the end what is recognised no longer.
 */
export class RecognisedRows {
  /** In the order of Postgres' `get_bit`. */
  readonly marks: Buffer;

  private constructor(
    private readonly accountId: string,
    private readonly customerId: string,
    /** The last number of the log when the reading began. */
    private readonly until: number,
  ) {
    this.marks = Buffer.alloc((until >> 3) + 1);
  }

  static async begin(client: Queryable, accountId: string): Promise<RecognisedRows> {
    const { rows } = await client.query<{ id: string; until: string }>(
      'select c.id, c.change_sequence as until from accounts a join customers c on c.id = a.customer_id where a.id = $1',
      [accountId],
    );
    const { id = '', until = '0' } = rows[0] ?? {};
    return Number(until) > untilMax ? RecognisedRows.none(accountId) : new RecognisedRows(accountId, id, Number(until));
  }

  /** Recognises nothing. */
  static none(accountId: string): RecognisedRows {
    return new RecognisedRows(accountId, '', 0);
  }

  /** The rows that say what a transaction says, as many as there are such transactions, each with what to `mark`. */
  async among<R extends RowIdentity>(client: Queryable, rows: readonly R[]): Promise<Map<R, number>> {
    const times = rows.flatMap((row) => dateOf(row)?.getTime() ?? []);
    if (this.until === 0 || times.length === 0) return new Map();
    const [first, last] = [Math.min(...times), Math.max(...times)];
    const { rows: known } = await client.query<{ fingerprint: string; sequence: string }>(
      `select fingerprint, sequence from transactions
       where account_id = $1 and date between $2 and $3 and sequence <= $4 and ${unrecognisedSql('$5')}
         and status = 'BOOKED' and removed_at is null and joined_into is null and flag is null
       order by date, id limit ${knownMax}`,
      [this.accountId, new Date(first), new Date(last), this.until, this.marks],
    );
    const open = Map.groupBy(known, ({ fingerprint }) => fingerprint);
    return new Map(
      rows.flatMap((row): [R, number][] => {
        const equal = open.get(row.fingerprint)?.shift();
        return equal ? [[row, Number(equal.sequence)]] : [];
      }),
    );
  }

  mark(numbers: Iterable<number>): void {
    for (const each of numbers) this.marks[each >> 3] = (this.marks[each >> 3] ?? 0) | (1 << (each & 7));
  }

  /**
   * Takes the marks off transactions that have changed since the reading began, a person having corrected them, and answers
   * their rows as they were: they are to be compared like all others. The account must be locked.
   */
  async release(tx: Queryable): Promise<Transaction[]> {
    if (this.until === 0) return [];
    const { rows: changed } = await tx.query<{ id: string }>(
      'select distinct transaction_id as id from changes where customer_id = $1 and sequence > $2 and account_id = $3',
      [this.customerId, this.until, this.accountId],
    );
    if (changed.length === 0) return [];
    // By their ids alone, so that the planner cannot begin with the whole log.
    const { rows } = await tx.query<{ sequence: string; wire: string }>(
      `select max(sequence) as sequence, (array_agg(wire order by sequence desc) filter (where wire is not null))[1] as wire
       from changes where transaction_id = any($1) and customer_id = $2 and sequence <= $3 group by transaction_id`,
      [changed.map(({ id }) => id), this.customerId, this.until],
    );
    return rows.flatMap(({ sequence, wire }) => (this.unmark(Number(sequence)) ? transactionOf(wire) : []));
  }

  clear(): void {
    this.marks.fill(0);
  }

  /** Whether there was a mark. */
  private unmark(number: number): boolean {
    const [byte = 0, bit] = [this.marks[number >> 3], 1 << (number & 7)];
    this.marks[number >> 3] = byte & ~bit;
    return (byte & bit) !== 0;
  }
}
