import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import type { Transaction } from '#libs/contract';
import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { newAccount, type RecordedAccount, take } from '../sync/recorded-account.fixture.js';
import { noCounts } from '../sync/record-changes.js';
import { logOf, projected, tableOf } from '../sync/replayed-log.fixture.js';
import { TransactionCorrections } from '../transactions/transaction-corrections.service.js';
import { AccountJoins } from './account-joins.service.js';

let db: FreshDatabase<BffPrisma>;
let former: RecordedAccount;
let shown: RecordedAccount;
let joins: AccountJoins;

beforeAll(async () => {
  db = await freshDatabase('bff');
  joins = new AccountJoins(db.pool);
});
beforeEach(() => begin());
afterAll(() => db.close());

/** One account that no institution shows any more, and one that is read. */
async function begin(): Promise<void> {
  former = await newAccount(db.pool);
  shown = { ...former, accountId: randomUUID() };
  await db.pool.query(
    `insert into accounts (id, customer_id, connection_id, institution_id, identification_hash, aggregator_account_id, wire, created_at)
     select $2, customer_id, connection_id, institution_id, 'other', 'new', '{}', now() from accounts where id = $1`,
    [former.accountId, shown.accountId],
  );
  await schedule(shown.accountId);
}

async function schedule(accountId: string): Promise<void> {
  await db.pool.query(
    `insert into account_schedules (account_id, connection_id, due_at, ready_at)
     select id, connection_id, now(), now() from accounts where id = $1`,
    [accountId],
  );
}

function row(day: number, amount: number, more: Partial<Transaction> = {}): Transaction {
  const date = `2026-02-${String(day).padStart(2, '0')}T00:00:00.000Z`;
  return { id: `${day}-${amount}`, bookingDateTime: date, date, status: 'BOOKED', amount, currency: 'GBP', ...more };
}

const live = async () =>
  (
    await db.pool.query<{ id: string; account_id: string; amount: string }>(
      'select id, account_id, amount from transactions where customer_id = $1 and removed_at is null order by date, id',
      [former.customerId],
    )
  ).rows;
const expectExactLog = async () =>
  expect(await tableOf(db.pool, former)).toEqual(projected(await logOf(db.pool, former)));
const join = (kept: RecordedAccount, gone: RecordedAccount) => joins.join(kept, kept.accountId, gone.accountId);
const again = async (account: RecordedAccount, answer: Transaction[]) => {
  const { proof: _proof, lateness: _lateness, ...counts } = await take(db.pool, account, answer);
  return counts;
};

describe('joined accounts', () => {
  const [old, both, fresh] = [row(1, -1), row(2, -2), row(3, -3)];

  it.each([
    ['the former one', () => [former, shown] as const],
    ['the one that is shown', () => [shown, former] as const],
  ])('are one history under the older ids, by the name of %s', async (_which, names) => {
    await take(db.pool, former, [old, both]);
    const before = await live();
    await take(db.pool, shown, [both, fresh]);
    const [kept, gone] = names();
    await join(kept, gone);
    const after = await live();
    expect(after.map(({ account_id: accountId, amount }) => [accountId, Number(amount)])).toEqual(
      [-1, -2, -3].map((amount) => [kept.accountId, amount]),
    );
    expect(after.slice(0, 2).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    await expectExactLog();
    expect(await again(kept, [both, fresh])).toEqual(noCounts());
    const { rows } = await db.pool.query(
      'select a.id, aggregator_account_id as name, due_at is not null as due from accounts a join account_schedules on account_id = a.id where customer_id = $1',
      [former.customerId],
    );
    expect(rows).toEqual([{ id: kept.accountId, name: 'new', due: true }]);
  });

  it('have twins as often as either showed them, whatever their ids', async () => {
    const coffee = (id: string) => row(2, -2, { id, description: 'Coffee' });
    await take(db.pool, former, [old, coffee('a'), coffee('b')]);
    await take(db.pool, shown, [coffee('c'), coffee('d'), coffee('e'), fresh]);
    await join(former, shown);
    expect((await live()).map(({ amount }) => Number(amount))).toEqual([-1, -2, -2, -2, -3]);
    await expectExactLog();
  });

  it('link what was pending in the one and is booked in the other', async () => {
    const hold = row(2, -2, { id: 'hold', status: 'PENDING', description: 'Coffee' });
    await take(db.pool, former, [old, hold]);
    const [, pending] = await live();
    await take(db.pool, shown, [old, { ...hold, id: 'booked', status: 'BOOKED' }, fresh]);
    await join(former, shown);
    const { rows } = await db.pool.query('select status from transactions where id = $1', [pending?.id]);
    expect(rows).toEqual([{ status: 'BOOKED' }]);
    expect(await live()).toHaveLength(3);
    await expectExactLog();
  });

  it('leave together what a person has joined', async () => {
    const [hold, meal] = [
      row(2, -5, { id: 'a', description: 'HOLD' }),
      row(2, -6, { id: 'b', description: 'Thai Palace' }),
    ];
    await take(db.pool, former, [old, hold, meal]);
    const [, one, other] = await live();
    await new TransactionCorrections(db.pool).join(former, one?.id ?? '', other?.id ?? '');
    await take(db.pool, shown, [hold, { ...meal, id: 'c' }, fresh]);
    await join(former, shown);
    expect((await live()).map(({ id, amount }) => [id, Number(amount)])).toContainEqual([one?.id, Number(one?.amount)]);
    expect(await live()).toHaveLength(3);
    await expectExactLog();
    expect(await again(former, [hold, { ...meal, id: 'c' }, fresh])).toEqual(noCounts());
    expect(await live()).toHaveLength(3);
  });

  it('keep a doubt, and lose one that the other answers', async () => {
    await take(db.pool, former, [old, both]);
    await take(db.pool, former, [old]);
    await take(db.pool, shown, [old, both]);
    await join(former, shown);
    const { rows } = await db.pool.query(
      'select flag from transactions where customer_id = $1 and removed_at is null',
      [former.customerId],
    );
    expect(rows).toEqual([{ flag: null }, { flag: null }]);
    await expectExactLog();
  });

  it('are what both showed, whatever that was, and are left alone by the next answer', async () => {
    const said = fc.record({
      day: fc.integer({ min: 1, max: 4 }),
      amount: fc.integer({ min: 1, max: 2 }),
      pending: fc.boolean(),
    });
    const answer = fc.array(said, { maxLength: 6 });
    const rows = (list: { day: number; amount: number; pending: boolean }[], name: string) =>
      list.map(({ day, amount, pending }, place) =>
        row(day, -amount, { id: `${name}${place}`, ...(pending ? { status: 'PENDING' } : {}) }),
      );
    await fc.assert(
      fc.asyncProperty(answer, answer, fc.boolean(), async (earlier, later, isFormerKept) => {
        await begin();
        await take(db.pool, former, rows(earlier, 'a'));
        await take(db.pool, shown, rows(later, 'b'));
        const [kept, gone] = isFormerKept ? [former, shown] : [shown, former];
        await join(kept, gone);
        await expectExactLog();
        expect((await live()).every(({ account_id: accountId }) => accountId === kept.accountId)).toBe(true);
        const { added } = await again(kept, rows(later, 'b'));
        expect(added).toBe(0);
        await expectExactLog();
      }),
      { numRuns: 40 },
    );
  });
});

describe('accounts that cannot be joined', () => {
  it('are those that are both shown', async () => {
    await schedule(former.accountId);
    await expect(join(former, shown)).rejects.toMatchObject({ status: 409 });
  });

  it('are others’, unknown ones, one and the same, and those of two currencies', async () => {
    const stranger = await newAccount(db.pool);
    await expect(join(former, stranger)).rejects.toMatchObject({ status: 400 });
    await expect(join(former, former)).rejects.toMatchObject({ status: 400 });
    await expect(joins.join(stranger, former.accountId, shown.accountId)).rejects.toMatchObject({ status: 404 });
    const text = "update accounts set currency = case id when $1 then 'GBP' else 'EUR' end where id in ($1, $2)";
    await db.pool.query(text, [former.accountId, shown.accountId]);
    await expect(join(former, shown)).rejects.toMatchObject({ status: 400 });
    expect(await logOf(db.pool, former)).toEqual([]);
  });
});
