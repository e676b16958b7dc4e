import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { array, assert, asyncProperty, boolean, integer, record } from 'fast-check';
import type { Transaction } from '#libs/contract';
import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { type LogEntry, replay } from './change-log.js';
import { noCounts } from './record-changes.js';
import { newAccount, type RecordedAccount, take } from './recorded-account.fixture.js';
import { servedText } from './served-text.js';

let db: FreshDatabase<BffPrisma> | undefined;

afterAll(() => db?.close());

let pool: FreshDatabase<BffPrisma>['pool'];

async function logOf({ customerId }: RecordedAccount): Promise<LogEntry[]> {
  const { rows } = await pool.query<Record<string, string> & { recorded_at: Date }>(
    'select * from changes where customer_id = $1 order by sequence',
    [customerId],
  );
  return rows.map((each) => ({
    sequence: BigInt(each['sequence'] ?? 0),
    recordedAt: each.recorded_at,
    kind: each['kind'] as LogEntry['kind'],
    accountId: each['account_id'] ?? '',
    transactionId: each['transaction_id'] ?? '',
    payload: each['payload'] ?? '',
    wire: each['wire'] ?? null,
  }));
}

/** The table with every column that follows from the log. */
async function tableOf({ customerId }: RecordedAccount): Promise<unknown[]> {
  const { rows } = await pool.query('select * from transactions where customer_id = $1 order by sequence', [
    customerId,
  ]);
  return rows.map(({ date: _date, customer_id: _customer, amount, ...each }) => ({
    ...each,
    amount: amount === null ? null : Number(amount),
  }));
}

function projected(entries: LogEntry[]): unknown[] {
  const lines = [...replay(entries).values()].toSorted((left, right) => Number(left.sequence - right.sequence));
  return lines.map(({ id, accountId, row, flag, sequence, firstSeenAt, removedAt, ...more }) => ({
    id,
    account_id: accountId,
    status: row.status,
    booked_at: row.bookedAt,
    value_at: row.valueAt,
    amount: row.amount === null ? null : Number(row.amount),
    amount_minor: row.amountMinor === null ? null : String(row.amountMinor),
    currency: row.currency,
    description: row.description,
    bank_id: row.bankId,
    reference: row.reference,
    fingerprint: row.fingerprint,
    flag: flag && JSON.stringify(flag),
    wire: servedText(row, { id, accountId }),
    sequence: String(sequence),
    first_seen_at: firstSeenAt,
    removed_at: removedAt,
    joined_into: more.joinedInto,
    apart_from: more.apartFrom,
    dismissed: more.dismissed,
  }));
}

/** Few days, amounts and texts, so that twins, changes and disappearances are common. */
const bankRow = record({
  id: integer({ min: 0, max: 9 }),
  day: integer({ min: 1, max: 9 }),
  amount: integer({ min: 1, max: 4 }),
  isPending: boolean(),
  isNamed: boolean(),
}).map(({ id, day, amount, isPending, isNamed }): Transaction => {
  const at = `2026-01-0${day}T00:00:00.000Z`;
  const description = isNamed ? 'Coffee, "large"\tto go' : 'Tea';
  return {
    id: `b${id}`,
    date: at,
    bookingDateTime: at,
    status: isPending ? 'PENDING' : 'BOOKED',
    amount: -amount,
    currency: 'GBP',
    description,
  };
});

beforeEach(async () => {
  db ??= await freshDatabase('bff');
  ({ pool } = db);
});

describe('the change log', () => {
  it('has no gaps, and replaying it gives the table, after any answers of the bank', async () => {
    await assert(
      asyncProperty(array(array(bankRow, { maxLength: 8 }), { minLength: 1, maxLength: 5 }), async (answers) => {
        const owner = await newAccount(pool);
        for (const answer of answers) await take(pool, owner, answer);
        const entries = await logOf(owner);
        expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => BigInt(index + 1)));
        expect(await tableOf(owner)).toEqual(projected(entries));
      }),
      { numRuns: 60 },
    );
  });

  it('grows by nothing when the same answer comes again', async () => {
    await assert(
      asyncProperty(array(bankRow, { maxLength: 12 }), async (answer) => {
        const owner = await newAccount(pool);
        await take(pool, owner, answer);
        const before = await logOf(owner);
        const { proof: _proof, lateness: _lateness, ...counts } = await take(pool, owner, answer.toReversed());
        expect(counts).toEqual(noCounts());
        expect(await logOf(owner)).toEqual(before);
      }),
      { numRuns: 40 },
    );
  });

  it('numbers the changes of several accounts of one customer in one series, also when they come at once', async () => {
    const first = await newAccount(pool);
    const accountId = randomUUID();
    await pool.query(
      `insert into accounts (id, customer_id, connection_id, institution_id, identification_hash, aggregator_account_id, wire, created_at)
       select $1, customer_id, connection_id, institution_id, 'other', 'other', wire, created_at from accounts where id = $2`,
      [accountId, first.accountId],
    );
    const answer = Array.from({ length: 50 }, (_, index): Transaction => ({
      id: `b${index}`,
      date: '2026-01-01T00:00:00.000Z',
      status: 'BOOKED',
      amount: index,
      currency: 'GBP',
    }));
    await Promise.all([take(pool, first, answer), take(pool, { ...first, accountId }, answer)]);
    const entries = await logOf(first);
    expect(entries.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 100 }, (_, index) => BigInt(index + 1)),
    );
    expect(await tableOf(first)).toEqual(projected(entries));
  });
});
