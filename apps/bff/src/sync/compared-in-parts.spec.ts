import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { noCounts } from './record-changes.js';
import { newAccount, record, type RecordedAccount } from './recorded-account.fixture.js';
import { logOf, projected, tableOf } from './replayed-log.fixture.js';
import { StagedAnswer } from './staged-answer.js';
import { rowOf } from './transaction-row.js';

/** A bank that changes more rows at once than are compared at once. */

let db: FreshDatabase<BffPrisma>;

beforeAll(async () => {
  db = await freshDatabase('bff');
});
afterAll(() => db.close());

interface Fact {
  day: number;
  amount: number;
  /** How many of them there are. */
  copies: number;
}

/** What a bank shows of facts, each copy under an id of its own. */
function shown(facts: readonly Fact[], { ids, text }: { ids: string; text: string }): Transaction[] {
  return facts.flatMap(({ day, amount, copies }, at) =>
    Array.from({ length: copies }, (_, copy): Transaction => {
      const date = new Date(Date.UTC(2020, 0, 1 + day)).toISOString();
      const said = { date, bookingDateTime: date, status: 'BOOKED', amount, currency: 'GBP' } as const;
      return { id: `${ids}-${at}-${copy}x`, ...said, description: `${text} ${-amount}` };
    }),
  );
}

async function take(account: RecordedAccount, answer: Transaction[], partSize: number): Promise<unknown> {
  const staged = await StagedAnswer.open(db.pool, account);
  for (let at = 0; at < answer.length; at += 1_000) await staged.add(answer.slice(at, at + 1_000));
  const { proof: _proof, lateness: _lateness, ...counts } = await record(db.pool, account, staged, { partSize });
  return counts;
}

/** What is live, in an order of its own. */
async function live({ accountId }: RecordedAccount): Promise<string[]> {
  const { rows } = await db.pool.query<{ fingerprint: string }>(
    'select fingerprint from transactions where account_id = $1 and removed_at is null',
    [accountId],
  );
  return rows.map(({ fingerprint }) => fingerprint).toSorted();
}

const known = { ids: 'AB7', text: 'Card purchase at shop' };
const changes: Record<string, typeof known> = {
  'all ids': { ...known, ids: 'CD9' },
  'all texts': { ...known, text: 'Your payment of' },
};
const fact = fc.record({
  day: fc.integer({ min: 0, max: 150 }),
  amount: fc.integer({ min: -4, max: -1 }),
  copies: fc.integer({ min: 1, max: 3 }),
});

it.each(Object.entries(changes))(
  'a bank that changes %s adds nothing, loses nothing and flags nothing, however small the parts are',
  async (_what, change) => {
    const facts = fc.uniqueArray(fact, {
      minLength: 3,
      maxLength: 12,
      selector: ({ day, amount }) => `${day} ${amount}`,
    });
    await fc.assert(
      fc.asyncProperty(
        facts,
        fc.array(fact, { maxLength: 2 }),
        fc.integer({ min: 1, max: 9 }),
        async (old, late, size) => {
          const account = await newAccount(db.pool);
          const before = shown(old, known);
          await take(account, before, size);
          const fresh = shown(
            late.map(({ day, ...rest }) => ({ day: day + 400, ...rest })),
            { ids: 'EF5', text: 'Ticket' },
          );
          const answer = [...shown(old, change), ...fresh];
          expect(await take(account, answer, size)).toEqual({
            ...noCounts(),
            added: fresh.length,
            modified: before.length,
          });
          expect(await live(account)).toEqual(answer.map((each) => rowOf(each).fingerprint).toSorted());
          expect(await tableOf(db.pool, account)).toEqual(projected(await logOf(db.pool, account)));
        },
      ),
      { numRuns: 25 },
    );
  },
  120_000,
);
