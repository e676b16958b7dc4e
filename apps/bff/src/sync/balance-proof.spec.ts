import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import type { AccountBalance, Transaction } from '#libs/contract';
import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import type { BalanceProof } from './balance-proof.js';
import { newAccount, type RecordedAccount, take } from './recorded-account.fixture.js';

let db: FreshDatabase<BffPrisma>;
let account: RecordedAccount;

beforeAll(async () => {
  db = await freshDatabase('bff');
});
beforeEach(async () => {
  account = await newAccount(db.pool);
});
afterAll(() => db.close());

const opening = 50_000;

function row(minor: number, day: number, more: Partial<Transaction> = {}): Transaction {
  const date = `2026-02-${String(day).padStart(2, '0')}T00:00:00.000Z`;
  const amount = { amount: minor / 100, currency: 'GBP' };
  return {
    date,
    bookingDateTime: date,
    status: 'BOOKED',
    transactionAmount: amount,
    description: `Shop ${-minor}`,
    ...more,
  };
}

const pending = { status: 'PENDING' } as const;

function sum(rows: readonly Transaction[]): number {
  return rows.reduce((all, { status, transactionAmount }) => {
    return status === 'BOOKED' ? all + Math.round((transactionAmount?.amount ?? 0) * 100) : all;
  }, 0);
}

function balance(minor: number, type: AccountBalance['type'] = 'INTERIM_BOOKED'): AccountBalance {
  return { ...(type ? { type } : {}), balanceAmount: { amount: minor / 100, currency: 'GBP' } };
}

/** A synchronisation in which the bank shows `rows` and a balance that `truth` explains. */
async function see(rows: Transaction[], truth = rows): Promise<BalanceProof | undefined> {
  const balances = [balance(9_999_999, 'INTERIM_AVAILABLE'), balance(opening + sum(truth))];
  return (await take(db.pool, account, rows, { balances: { balances } })).proof;
}

async function events(type = 'account.balance-mismatch'): Promise<{ amount: string; candidates: string }[]> {
  const { rows } = await db.pool.query<{ data: string }>(
    'select data from events where merchant_id = $1 and type = $2 order by sequence',
    [account.merchantId, type],
  );
  return rows.map(({ data }) => JSON.parse(data) as { amount: string; candidates: string });
}

async function idsOf(minor: number): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(
    'select id from transactions where account_id = $1 and amount_minor = $2',
    [account.accountId, minor],
  );
  return rows.map(({ id }) => id);
}

const day = fc.integer({ min: 1, max: 27 });
const minor = fc.integer({ min: -90_000, max: 90_000 }).filter((amount) => amount !== 0);
const history = fc.array(fc.tuple(minor, day, fc.boolean()), { minLength: 1, maxLength: 12 });

describe('the proof', () => {
  it('holds on clean data: new, late, pending, booked and cancelled rows', async () => {
    await fc.assert(
      fc.asyncProperty(history, history, async (before, after) => {
        account = await newAccount(db.pool);
        const first = [
          row(-100, 1),
          ...before.map(([amount, at, isPending]) => row(amount, at, isPending ? pending : {})),
        ];
        const second = [
          row(-100, 1),
          ...before.map(([amount, at]) => row(amount, at)),
          ...after.map(([amount, at]) => row(amount, at)),
        ];
        expect((await see(first))?.difference).toBe('0');
        expect((await see(second))?.difference).toBe('0');
        expect((await see([...second, row(-777, 28, pending)]))?.difference).toBe('0');
        expect((await see(second))?.difference).toBe('0');
        expect(await events()).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  it('reports any one row that is lost, with its amount', async () => {
    await fc.assert(
      fc.asyncProperty(history, minor, day, async (known, lost, at) => {
        account = await newAccount(db.pool);
        const rows = [row(-100, 1), ...known.map(([amount, on]) => row(amount, on))];
        await see(rows);
        expect((await see(rows, [...rows, row(lost, at)]))?.difference).toBe(String(lost / 100));
        expect(await events()).toMatchObject([{ amount: String(lost / 100) }]);
      }),
      { numRuns: 30 },
    );
  });

  it('reports any one row that is doubled, with its amount and both copies', async () => {
    await fc.assert(
      fc.asyncProperty(history, minor, day, async (known, doubled, at) => {
        account = await newAccount(db.pool);
        const rows = [row(-100, 1), ...known.map(([amount, on]) => row(amount, on))];
        await see(rows);
        const truth = [...rows, row(doubled, at)];
        const proof = await see([...truth, row(doubled, at)], truth);
        expect(proof?.difference).toBe(String(-doubled / 100));
        expect(proof?.candidates).toEqual(expect.arrayContaining((await idsOf(doubled)).slice(0, 2)));
        expect(await events()).toHaveLength(1);
      }),
      { numRuns: 30 },
    );
  });

  it('names the transaction that was removed in error', async () => {
    const hold = row(-4_200, 9, { ...pending, description: 'Hold' });
    const rows = [row(-100, 1), row(-250, 2)];
    await see([...rows, hold]);
    const [id = ''] = await idsOf(-4_200);
    const proof = await see(rows, [...rows, row(-4_200, 9)]);
    expect(proof).toEqual({ difference: '-42', currency: 'GBP', candidates: [id] });
    expect(await events()).toEqual([{ accountId: account.accountId, amount: '-42', currency: 'GBP', candidates: id }]);
  });

  it('says a difference once, until it changes', async () => {
    const rows = [row(-100, 1)];
    const truth = [...rows, row(-900, 5)];
    await see(rows);
    await see(rows, truth);
    await see(rows, truth);
    expect(await events()).toHaveLength(1);
    await see(truth, truth);
    await see(truth, rows);
    expect((await events()).map(({ amount }) => amount)).toEqual(['-9', '9']);
  });

  it('takes a difference back that it has told, once', async () => {
    const rows = [row(-100, 1)];
    const truth = [...rows, row(-900, 5)];
    await see(rows);
    await see(rows, truth);
    await see(truth);
    await see(truth);
    expect(await events('account.balance-agreed')).toEqual([
      { accountId: account.accountId, amount: '-9', currency: 'GBP' },
    ]);
    expect(await events()).toHaveLength(1);
  });

  it('is not upset by a deeper history', async () => {
    const recent = [row(-100, 20), row(-300, 21)];
    const older = [row(-5_000, 3), row(-600, 4)];
    await see(recent, [...older, ...recent]);
    expect((await see([...older, ...recent]))?.difference).toBe('0');
  });

  it('follows a card whose debt is shown as a positive balance', async () => {
    account = await newAccount(db.pool, 'CREDIT_CARD');
    const rows = [row(-100, 1)];
    const card = async (shown: Transaction[], debt: number) =>
      (await take(db.pool, account, shown, { balances: { balances: [balance(debt)] } })).proof?.difference;
    expect(await card(rows, 100)).toBe('0');
    expect(await card([...rows, row(-250, 2)], 350)).toBe('0');
    expect(await card([...rows, row(-250, 2)], 370)).toBe('-0.2');
  });

  it('says nothing where no balance can be proven', async () => {
    const { proof } = await take(db.pool, account, [row(-100, 1)], {
      balances: { balances: [balance(1, 'INTERIM_AVAILABLE')] },
    });
    expect(proof).toBeUndefined();
  });
});
