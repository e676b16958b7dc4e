import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { Problem, type Transaction } from '#libs/contract';
import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { type Evidence, noEvidence } from '../sync/identity-policy.js';
import { newAccount, type RecordedAccount, take } from '../sync/recorded-account.fixture.js';
import { noCounts } from '../sync/record-changes.js';
import { logOf, projected, tableOf } from '../sync/replayed-log.fixture.js';
import { TransactionCorrections } from './transaction-corrections.service.js';
import type { TransactionFlag } from './transaction-corrections.dto.js';
import type { TransactionView } from './transaction.dto.js';

let db: FreshDatabase<BffPrisma>;
let account: RecordedAccount;
let corrections: TransactionCorrections;

beforeAll(async () => {
  db = await freshDatabase('bff');
  corrections = new TransactionCorrections(db.pool);
});
beforeEach(async () => {
  account = await newAccount(db.pool);
});
afterAll(() => db.close());

function row(amount: number, text: string, more: Partial<Transaction> = {}): Transaction {
  const date = '2026-02-03T00:00:00.000Z';
  return { date, bookingDateTime: date, status: 'BOOKED', amount, currency: 'GBP', description: text, ...more };
}

const rent = row(-800, 'RENT');

async function live(): Promise<{ id: string; status: string; description: string; flag: string | null }[]> {
  const { rows } = await db.pool.query<{ id: string; status: string; description: string; flag: string | null }>(
    'select id, status, description, flag from transactions where account_id = $1 and removed_at is null order by description, status',
    [account.accountId],
  );
  return rows;
}

async function again(answer: Transaction[]): Promise<unknown> {
  const { proof: _proof, lateness: _lateness, ...counts } = await take(db.pool, account, answer);
  return counts;
}

describe('joined transactions', () => {
  it('are one, booked, under the id that was kept, also for every later synchronisation', async () => {
    const hold = row(-5, 'HOLD 71', { status: 'PENDING' });
    const meal = row(-5.6, 'Thai Palace');
    await take(db.pool, account, [rent, hold, meal]);
    const [pending, , booked] = await live();
    if (!pending || !booked) throw new Error('rows are missing');
    const kept = JSON.parse(await corrections.join(account, pending.id, booked.id)) as TransactionView;
    expect(kept).toMatchObject({ id: pending.id, status: 'BOOKED', description: 'Thai Palace' });
    expect(await live()).toMatchObject([{ description: 'RENT' }, { id: pending.id }]);
    expect(await again([rent, hold, meal])).toEqual(noCounts());
    expect(await again([rent, hold, { ...meal, description: 'Thai Palace London' }])).toMatchObject({
      added: 0,
      modified: 1,
    });
    await again([rent, { ...meal, description: 'Thai Palace London' }]);
    expect(await live()).toMatchObject([{ description: 'RENT' }, { id: pending.id, status: 'BOOKED' }]);
  });

  it('are two again when they are split', async () => {
    const twins = [row(-3.5, 'COFFEE'), row(-3.5, 'COFFEE')];
    await take(db.pool, account, twins);
    const [one, other] = await live();
    if (!one || !other) throw new Error('rows are missing');
    await corrections.join(account, one.id, other.id);
    expect(await again(twins)).toEqual(noCounts());
    expect(await live()).toHaveLength(1);
    const { data } = JSON.parse(await corrections.split(account, one.id)) as { data: TransactionView[] };
    expect(data.map(({ id }) => id)).toEqual([one.id, other.id]);
    expect(await again(twins)).toEqual(noCounts());
  });
});

describe('a pending transaction that is gone', () => {
  const on = (date: string): Partial<Transaction> => ({ date, bookingDateTime: date });
  const hold = row(-5, 'SQ *MARKET', { status: 'PENDING' });
  const halls = ['HALL', 'STREET'].map((text) => row(-5, `SQ *MARKET ${text}`, on('2026-02-05T00:00:00.000Z')));

  async function flagged(): Promise<{ id: string; candidate: string }> {
    await take(db.pool, account, [rent, hold]);
    await take(db.pool, account, [rent, ...halls]);
    const one = (await live()).find(({ flag }) => flag !== null);
    const { candidates } = JSON.parse(await corrections.flagOf(account, one?.id ?? '')) as TransactionFlag;
    return { id: one?.id ?? '', candidate: candidates[0]?.transaction.id ?? '' };
  }

  it('can be joined into its booking, and the log says so', async () => {
    const { id, candidate } = await flagged();
    const kept = JSON.parse(await corrections.join(account, id, candidate)) as TransactionView;
    expect(kept).toMatchObject({ id, status: 'BOOKED' });
    expect((await live()).find((each) => each.id === id)?.flag).toBeNull();
    expect((await logOf(db.pool, account)).slice(-2)).toMatchObject([
      { kind: 'cleared', transactionId: id },
      { kind: 'joined', transactionId: candidate, payload: JSON.stringify({ into: id, rule: 'person' }) },
    ]);
    expect(await tableOf(db.pool, account)).toEqual(projected(await logOf(db.pool, account)));
    await expect(corrections.join(account, id, candidate)).rejects.toMatchObject({ status: 400 });
  });

  it('is parted from it again, and taken for it when the bank shows it again', async () => {
    const { id, candidate } = await flagged();
    await corrections.join(account, id, candidate);
    expect(await again([rent, hold, ...halls])).toEqual(noCounts());
    await corrections.split(account, id);
    expect((await live()).map((each) => each.id)).toContain(candidate);
    expect(await tableOf(db.pool, account)).toEqual(projected(await logOf(db.pool, account)));
  });

  it('teaches, once joined, by how many days bookings move', async () => {
    const { id, candidate } = await flagged();
    const before = await evidence();
    await corrections.join(account, id, candidate);
    const { moved2, replaced, sideBySide } = await evidence();
    expect({ moved2, replaced, sideBySide }).toEqual({
      moved2: (before.moved2 ?? 0) + 1,
      replaced: before.replaced + 1,
      sideBySide: before.sideBySide,
    });
  });

  it('is nothing to join where it was removed as a booking', async () => {
    await take(db.pool, account, [rent, hold, row(-5.6, 'Thai Palace')]);
    const [one, , other] = await live();
    await corrections.join(account, one?.id ?? '', other?.id ?? '');
    const [kept] = await live();
    const { rows } = await db.pool.query<{ id: string }>(
      `select id from transactions where account_id = $1 and removed_at is not null and status = 'BOOKED'`,
      [account.accountId],
    );
    expect(rows).toHaveLength(1);
    await expect(corrections.join(account, kept?.id ?? '', rows[0]?.id ?? '')).rejects.toMatchObject({ status: 400 });
  });
});

async function evidence(): Promise<Evidence> {
  const { rows } = await db.pool.query<{ evidence: string }>(
    'select evidence from institution_policies where institution_id = $1',
    [account.institutionId],
  );
  return { ...noEvidence, ...(JSON.parse(rows[0]?.evidence ?? '{}') as Partial<Evidence>) };
}

describe('a link that was wrong', () => {
  it('is undone: the pending row was another purchase', async () => {
    await take(db.pool, account, [rent, row(-5, 'SHOP', { status: 'PENDING' })]);
    await take(db.pool, account, [rent, row(-5, 'SHOP 12')]);
    const linked = (await live()).find(({ description }) => description === 'SHOP 12');
    const { data } = JSON.parse(await corrections.split(account, linked?.id ?? '')) as { data: TransactionView[] };
    expect(data).toMatchObject([
      { id: linked?.id, status: 'PENDING' },
      { status: 'BOOKED', description: 'SHOP 12' },
    ]);
    await again([rent, row(-5, 'SHOP 12')]);
    expect(await live()).toMatchObject([{ description: 'RENT' }, { id: data[1]?.id, status: 'BOOKED' }]);
    await expect(corrections.split(account, data[1]?.id ?? '')).rejects.toMatchObject({ status: 409 });
  });
});

describe('the flag of a transaction', () => {
  it('tells the reason, and those it may be with what became of them', async () => {
    const hold = row(-5, 'SQ *MARKET', { status: 'PENDING' });
    await take(db.pool, account, [rent, hold]);
    await take(db.pool, account, [rent, row(-5, 'SQ *MARKET HALL'), row(-5, 'SQ *MARKET STREET')]);
    const flagged = (await live()).filter(({ flag }) => flag !== null);
    expect(flagged).toHaveLength(2);
    const flag = JSON.parse(await corrections.flagOf(account, flagged[0]?.id ?? '')) as TransactionFlag;
    expect(flag.reason).toBe('uncertain-link');
    expect(flag.candidates).toMatchObject([
      { transaction: { description: 'SQ *MARKET', status: 'PENDING' }, removedAt: expect.stringMatching(/Z$/) },
    ]);
  });

  it('is not there where nothing is in doubt, and for nobody else', async () => {
    await take(db.pool, account, [rent, row(-9, 'SHOP')]);
    await take(db.pool, account, [rent]);
    const [sure, doubtful] = (await live()).toSorted((one) => (one.flag === null ? -1 : 1));
    const stranger = await newAccount(db.pool);
    expect(JSON.parse(await corrections.flagOf(account, doubtful?.id ?? ''))).toEqual({
      reason: 'booked-vanished',
      candidates: [],
    });
    await expect(corrections.flagOf(account, sure?.id ?? '')).rejects.toMatchObject({ status: 404 });
    await expect(corrections.flagOf(stranger, doubtful?.id ?? '')).rejects.toMatchObject({ status: 404 });
  });
});

describe('a dismissed flag', () => {
  it('does not come back until the bank says something else', async () => {
    const shop = row(-9, 'SHOP');
    await take(db.pool, account, [rent, shop]);
    await take(db.pool, account, [rent]);
    const flagged = (await live()).find(({ flag }) => flag !== null);
    await corrections.dismiss(account, flagged?.id ?? '');
    expect(await again([rent])).toEqual(noCounts());
    await expect(corrections.dismiss(account, flagged?.id ?? '')).rejects.toBeInstanceOf(Problem);
  });
});

it('refuses what is not there, not of the account or not another', async () => {
  await take(db.pool, account, [rent]);
  const [one] = await live();
  const id = one?.id ?? '';
  const stranger = await newAccount(db.pool);
  await expect(corrections.join(stranger, id, stranger.accountId)).rejects.toMatchObject({ status: 404 });
  await expect(corrections.join(account, id, stranger.accountId)).rejects.toMatchObject({ status: 400 });
  await expect(async () => corrections.join(account, id, id)).rejects.toMatchObject({ status: 400 });
});

it('leaves a log from which the table is rebuilt, whatever is joined, split, dismissed and shown next', async () => {
  const said = fc.record({
    amount: fc.integer({ min: 1, max: 3 }),
    pending: fc.boolean(),
    text: fc.constantFrom('TEA', 'TEA ROOM'),
  });
  const answers = fc.array(fc.array(said, { maxLength: 6 }), { minLength: 1, maxLength: 4 });
  const steps = fc.array(
    fc.record({ what: fc.constantFrom('join', 'split', 'dismiss'), at: fc.nat(5), other: fc.nat(5) }),
    { maxLength: 5 },
  );
  await fc.assert(
    fc.asyncProperty(answers, steps, async (shown, list) => {
      account = await newAccount(db.pool);
      for (const answer of shown) {
        await take(
          db.pool,
          account,
          answer.map(({ amount, pending, text }) => row(-amount, text, pending ? { status: 'PENDING' } : {})),
        );
        for (const { what, at, other } of list) await tryStep(what, at, other);
      }
      expect(await tableOf(db.pool, account)).toEqual(projected(await logOf(db.pool, account)));
    }),
    { numRuns: 25 },
  );
});

/** A step that is possible is taken; one that is not changes nothing. */
async function tryStep(what: string, at: number, other: number): Promise<void> {
  const rows = await live();
  const { rows: all } = await db.pool.query<{ id: string }>(
    'select id from transactions where account_id = $1 order by first_seen_at, id',
    [account.accountId],
  );
  const [one, two] = [rows[at], all[other]];
  if (!one) return;
  const step =
    what === 'join' && two && two.id !== one.id
      ? corrections.join(account, one.id, two.id)
      : what === 'split'
        ? corrections.split(account, one.id)
        : corrections.dismiss(account, one.id);
  await step.catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
  });
}
