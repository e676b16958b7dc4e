import { afterAll, beforeAll, expect, it } from 'vitest';
import { assert, asyncProperty, bigInt, constant, date, oneof, string, tuple } from 'fast-check';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { transaction } from '#libs/database';
import type { BffPrisma } from '#libs/database';
import { copyRows } from './copy-rows.js';

let db: FreshDatabase<BffPrisma>;

beforeAll(async () => {
  db = await freshDatabase('bff');
});
afterAll(() => db.close());

it('stores every text, number and instant as it was', async () => {
  // Postgres has no character for zero, and neither has JSON text that is made of bank data.
  const text = oneof(
    string({ unit: 'binary' }),
    string(),
    constant('\\N'),
    constant('\\.'),
    constant('a\tb\nc\rd\\e'),
  ).map((each) => each.replaceAll('\u0000', ''));
  const instant = date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true });
  const row = tuple(text, oneof(bigInt(-(2n ** 63n), 2n ** 63n - 1n), constant(null)), oneof(instant, constant(null)));
  await assert(
    asyncProperty(row, row, async (...rows) => {
      const stored = await transaction(db.pool, async (client) => {
        await client.query(
          'create temp table copied (place int, words text, amount bigint, at timestamptz) on commit drop',
        );
        const placed = rows.map((each, place) => [place, ...each] as const);
        await copyRows(client, { table: 'copied', columns: ['place', 'words', 'amount', 'at'] }, placed);
        return (
          await client.query<{ words: string; amount: string | null; at: Date | null }>(
            'select * from copied order by place',
          )
        ).rows;
      });
      expect(stored.map(({ words, amount, at }) => [words, amount === null ? null : BigInt(amount), at])).toEqual(rows);
    }),
    { numRuns: 100 },
  );
});

it('leaves nothing and breaks nothing when a value is refused half-way', async () => {
  const attempt = transaction(db.pool, async (client) => {
    await client.query('create temp table copied (place int) on commit drop');
    await copyRows(client, { table: 'copied', columns: ['place'] }, [[1], ['not a number'], [3]]);
  });
  await expect(attempt).rejects.toThrow('integer');
  expect((await db.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});
