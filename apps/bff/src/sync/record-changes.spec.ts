import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { array, assert, asyncProperty, boolean, integer, record } from 'fast-check';
import type { Transaction } from '#libs/contract';
import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { noCounts } from './record-changes.js';
import { newAccount, take } from './recorded-account.fixture.js';
import { logOf, projected, tableOf } from './replayed-log.fixture.js';

let db: FreshDatabase<BffPrisma> | undefined;

afterAll(() => db?.close());

let pool: FreshDatabase<BffPrisma>['pool'];

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
        const entries = await logOf(pool, owner);
        expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => BigInt(index + 1)));
        expect(await tableOf(pool, owner)).toEqual(projected(entries));
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  it('grows by nothing when the same answer comes again', async () => {
    await assert(
      asyncProperty(array(bankRow, { maxLength: 12 }), async (answer) => {
        const owner = await newAccount(pool);
        await take(pool, owner, answer);
        const before = await logOf(pool, owner);
        const { proof: _proof, lateness: _lateness, ...counts } = await take(pool, owner, answer.toReversed());
        expect(counts).toEqual(noCounts());
        expect(await logOf(pool, owner)).toEqual(before);
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
    const entries = await logOf(pool, first);
    expect(entries.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 100 }, (_, index) => BigInt(index + 1)),
    );
    expect(await tableOf(pool, first)).toEqual(projected(entries));
  });
});
