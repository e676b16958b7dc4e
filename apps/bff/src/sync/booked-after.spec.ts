import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { isExplained } from './booked-after.js';
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

const opening = 500;

function row(amount: number, bookingDateTime: string, description = `Shop ${amount}`): Transaction {
  const transactionAmount = { amount, currency: 'GBP' };
  return { date: bookingDateTime, bookingDateTime, status: 'BOOKED', transactionAmount, description };
}

interface Told {
  /** When the balance is read. */
  at: string;
  /** What the bank says of the time of its balance. */
  dateTime?: string;
}

/** A synchronisation in which the balance is made of `truth`, and the rows are `rows`. */
async function see(rows: Transaction[], truth: Transaction[], { at, dateTime }: Told): Promise<string | undefined> {
  const amount = truth.reduce((sum, { transactionAmount }) => sum + (transactionAmount?.amount ?? 0), opening);
  const told = dateTime === undefined ? {} : { dateTime };
  const balances = [{ type: 'INTERIM_BOOKED' as const, balanceAmount: { amount, currency: 'GBP' }, ...told }];
  return (await take(db.pool, account, rows, { balances: { balances }, balancesAt: new Date(at) })).proof?.difference;
}

async function events(): Promise<string[]> {
  const { rows } = await db.pool.query<{ type: string }>(
    'select type from events where merchant_id = $1 order by sequence',
    [account.merchantId],
  );
  return rows.map(({ type }) => type);
}

const old = row(-10, '2026-02-01T00:00:00.000Z');
const [first, second, third] = [
  '2026-03-09T06:00:00.000Z',
  '2026-03-09T12:00:00.000Z',
  '2026-03-09T18:00:00.000Z',
] as const;
const mismatch = 'account.balance-mismatch';

describe('a booking between the reading of the balance and that of the rows', () => {
  it.each<[string, Transaction[], string | undefined]>([
    ['has a time after the balance', [row(-7, '2026-03-09T12:00:02.000Z')], undefined],
    ['has a time just before it, by another clock', [row(-7, '2026-03-09T11:58:00.000Z')], undefined],
    ['has only the day', [row(-7, '2026-03-09T00:00:00.000Z')], undefined],
    ['is one of several', [row(-7, '2026-03-09T12:00:02.000Z'), row(-3, '2026-03-09T12:00:02.000Z')], undefined],
    ['is newer than the time of the balance', [row(-7, '2026-03-09T08:00:00.000Z')], '2026-03-09T07:00:00.000Z'],
  ])('is no difference where it %s', async (_, booked, dateTime) => {
    const told = dateTime === undefined ? {} : { dateTime };
    expect(await see([old], [old], { at: first })).toBe('0');
    expect([undefined, '0']).toContain(await see([old, ...booked], [old], { at: second, ...told }));
    expect(await see([old, ...booked], [old, ...booked], { at: third })).toBe('0');
    expect(await events()).toEqual([]);
  });

  it('is no difference where it was pending before', async () => {
    const booked = row(-7, '2026-03-09T00:00:00.000Z');
    const hold: Transaction = { ...booked, status: 'PENDING' };
    expect(await see([old, hold], [old], { at: first })).toBe('0');
    expect(await see([old, booked], [old], { at: second })).toBeUndefined();
    expect(await see([old, booked], [old, booked], { at: third })).toBe('0');
    expect(await events()).toEqual([]);
  });

  it('is a difference where the next balance does not hold it either', async () => {
    const phantom = row(-7, '2026-03-09T00:00:00.000Z');
    await see([old], [old], { at: first });
    expect(await see([old, phantom], [old], { at: second })).toBeUndefined();
    expect(await see([old, phantom], [old], { at: third })).toBe('7');
    expect(await events()).toEqual([mismatch]);
  });

  it('is not held against the proof that began with it, and loses nothing later', async () => {
    const booked = row(-7, '2026-03-09T00:00:00.000Z');
    expect(await see([old, booked], [old], { at: first })).toBe('0');
    expect(await see([old, booked], [old, booked], { at: second })).toBe('0');
    expect(await events()).toEqual([]);
    const lost = row(-7, '2026-03-09T00:00:00.000Z', 'Kiosk');
    expect(await see([old, booked], [old, booked, lost], { at: third })).toBe('-7');
    expect(await events()).toEqual([mismatch]);
  });

  it('does not confuse the first proof of a card whose debt is shown as a positive balance', async () => {
    account = await newAccount(db.pool, 'CREDIT_CARD');
    const booked = row(-7, '2026-03-09T00:00:00.000Z');
    const card = async (rows: Transaction[], amount: number, at: string) => {
      const balances = [{ type: 'INTERIM_BOOKED' as const, balanceAmount: { amount, currency: 'GBP' } }];
      const asked = { balances: { balances }, balancesAt: new Date(at) };
      return (await take(db.pool, account, rows, asked)).proof?.difference;
    };
    expect(await card([old, booked], 10, first)).toBe('0');
    expect(await card([old, booked], 17, second)).toBe('0');
    expect(await card([old, booked], 20, third)).toBe('-3');
  });

  it('leaves a difference as it was told, and its end to the next reading', async () => {
    const [lost, booked] = [row(-4, '2026-03-08T00:00:00.000Z'), row(-7, '2026-03-09T00:00:00.000Z')];
    await see([old], [old], { at: first });
    expect(await see([old], [old, lost], { at: first })).toBe('-4');
    expect(await see([old, booked], [old, lost], { at: second })).toBeUndefined();
    expect(await see([old, booked], [old, lost, booked], { at: third })).toBe('-4');
    expect(await see([old, lost, booked], [old, lost, booked], { at: third })).toBe('0');
    expect(await events()).toEqual([mismatch, 'account.balance-agreed']);
  });
});

describe('one row too few or too many, on the day of the balance', () => {
  const today = row(-7, '2026-03-09T00:00:00.000Z');
  const other = row(-3, '2026-03-09T00:00:00.000Z');

  it.each<[string, Transaction[], Transaction[], string]>([
    ['a lost row', [old, other], [old, other, today], '-7'],
    ['a lost row, where none is new', [old], [old, today], '-7'],
    ['a doubled row', [old, other, today, today], [old, other, today], '7'],
    ['a doubled row under the next day', [old, today, row(-7, '2026-03-10T00:00:00.000Z')], [old, today], '7'],
    ['a doubled old row', [old, old, other], [old, other], '10'],
  ])('is told at once: %s', async (_, rows, truth, difference) => {
    await see([old], [old], { at: first });
    expect(await see(rows, truth, { at: second })).toBe(difference);
    expect(await events()).toEqual([mismatch]);
  });
});

describe('an amount', () => {
  const rows = [
    { amount: '-7', hasTwin: false },
    { amount: '-3', hasTwin: true },
    { amount: '-2', hasTwin: false },
  ];

  it.each([
    [-7, true],
    [-2, true],
    [-10, true],
    [-12, true],
    [-3, false],
    [-9, false],
    [7, false],
  ])('of %d is that of a row without a twin or of the newest together: %s', (amount, explained) => {
    expect(isExplained(BigInt(amount) * 1_000_000n, rows)).toBe(explained);
  });
});
