import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pageSizeMax, type Transaction } from '#libs/contract';
import { type BffPrisma, transaction } from '#libs/database';
import { now } from '#libs/server';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { recordAnswer } from './record-answer.js';
import { noCounts } from './record-changes.js';
import { newAccount, type RecordedAccount, take } from './recorded-account.fixture.js';
import { StagedAnswer, StageLost } from './staged-answer.js';

setFlagsFromString('--expose-gc');
/** Only what is still needed is to be counted. */
const collect = runInNewContext('gc') as () => void;

let db: FreshDatabase<BffPrisma>;
let account: RecordedAccount;

beforeAll(async () => {
  db = await freshDatabase('bff');
});
beforeEach(async () => {
  account = await newAccount(db.pool);
});
afterAll(() => db.close());

function row(day: number, amount: number, more: Partial<Transaction> = {}): Transaction {
  const date = new Date(Date.UTC(2026, 0, day)).toISOString();
  const text = `Shop number ${-amount}`;
  return { date, bookingDateTime: date, status: 'BOOKED', amount, currency: 'GBP', description: text, ...more };
}

const pending = { status: 'PENDING' } as const;
const since = (day: number) => {
  const from = new Date(Date.UTC(2026, 0, day));
  return { window: { from, before: null, completeFrom: from } };
};

async function counts(answer: Transaction[], more = {}): Promise<unknown> {
  const { proof: _proof, lateness: _lateness, ...rest } = await take(db.pool, account, answer, more);
  return rest;
}

describe('an answer of a part of the history', () => {
  const history = [row(1, -10), row(2, -20), row(20, -30), row(21, -40)];

  it('says nothing of what lies before it', async () => {
    await counts(history);
    expect(await counts([row(20, -30), row(21, -40), row(22, -50)], since(20))).toEqual({ ...noCounts(), added: 1 });
    expect(await counts(history.slice(0, 3), since(1))).toMatchObject({ flagged: 2 });
  });

  it('books a pending row that lies before it', async () => {
    await counts([...history, row(18, -60, pending)]);
    expect(await counts([row(20, -30), row(21, -40), row(21, -60)], since(20))).toMatchObject({ added: 1, linked: 0 });
    await counts([...history, row(18, -60, pending)]);
    expect(await counts([row(18, -60), row(20, -30), row(21, -40)], since(18))).toMatchObject({ linked: 1 });
  });
});

describe('the first answer', () => {
  it('shows a pending row and its booking as one transaction', async () => {
    const twice = [row(1, -10), row(3, -7, { ...pending, id: 'AB-77812x' }), row(3, -7, { id: 'AB-77812x' })];
    expect(await counts(twice)).toEqual({ ...noCounts(), added: 2, joined: 1 });
    expect(await counts(twice)).toEqual(noCounts());
    expect(await counts([twice[0], twice[2]].flatMap((each) => each ?? []))).toEqual({ ...noCounts(), removed: 1 });
  });
});

describe('a booking that comes only now', () => {
  const daysMax = async (...answer: Transaction[]) => (await take(db.pool, account, answer)).lateness.daysMax;
  const recent = (daysAgo: number, amount: number, more: Partial<Transaction> = {}) => {
    const date = new Date(now().getTime() - daysAgo * 86_400_000).toISOString();
    return row(1, amount, { date, bookingDateTime: date, ...more });
  };
  const first = [recent(9, -1), recent(1, -2)];

  it('is late by the days between its date and the last synchronisation', async () => {
    expect(await daysMax(...first)).toBe(0);
    expect(await daysMax(...first, recent(6, -3), recent(4, -4))).toBeCloseTo(6, 2);
    expect(await daysMax(...first, recent(6, -3), recent(4, -4))).toBe(0);
  });

  it('is not late when it belongs to a deeper history, has no date or is pending', async () => {
    await take(db.pool, account, first);
    const { date: _date, bookingDateTime: _booked, ...undated } = recent(0, -4);
    expect(await daysMax(...first, recent(20, -3), undated, recent(6, -5, pending))).toBe(0);
  });
});

describe('staged rows', () => {
  it('are recorded whole or not at all', async () => {
    const staged = await StagedAnswer.open(db.pool, account);
    await staged.add([row(1, -10)]);
    await StagedAnswer.open(db.pool, account);
    const recorded = { ...account, syncRunId: randomUUID() };
    const window = { from: null, before: null };
    const work = transaction(db.pool, (tx) => recordAnswer(tx, recorded, { staged, window, balances: undefined }));
    await expect(work).rejects.toBeInstanceOf(StageLost);
  });

  it('leave nothing behind', async () => {
    await counts([row(1, -10)]);
    const { rowCount } = await db.pool.query('select 1 from staged_rows where account_id = $1', [account.accountId]);
    expect(rowCount).toBe(0);
  });
});

it('learns what an institution does, and stores it', async () => {
  const shown = Array.from({ length: 60 }, (_, index) => row(1 + (index % 28), -1000 - index, { id: `TX-${index}-x` }));
  await counts(shown);
  await counts([...shown, row(29, -5)]);
  const { rows } = await db.pool.query<{ evidence: string }>(
    'select evidence from institution_policies where institution_id = $1',
    [account.institutionId],
  );
  expect(JSON.parse(rows[0]?.evidence ?? '{}')).toMatchObject({ idsKept: 60, idsChanged: 0 });
});

/** The interface gives a history in the order of dates. */
function page(at: number, rows: number): Transaction[] {
  return Array.from({ length: pageSizeMax }, (_, index) => {
    const serial = at * pageSizeMax + index;
    const more = { id: `TX-${serial}-x`, reference: `Purchase ${serial} at the shop` };
    return row(1 + Math.floor((serial * 700) / rows), -(1 + serial), more);
  });
}

/** Synchronises `rows` rows and answers how many megabytes it needed at most. */
async function sync(of: RecordedAccount, rows: number): Promise<number> {
  const used = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 2 ** 20;
  };
  const before = used();
  let most = 0;
  const staged = await StagedAnswer.open(db.pool, of);
  for (let at = 0; at < rows / pageSizeMax; at += 1) {
    await staged.add(page(at, rows));
    if (at % 10 === 9) most = Math.max(most, used() - before);
  }
  const recorded = { ...of, syncRunId: randomUUID() };
  const window = { from: null, before: null };
  await transaction(db.pool, (tx) => recordAnswer(tx, recorded, { staged, window, balances: undefined }));
  most = Math.max(most, used() - before);
  await staged.discard();
  return most;
}

it('touches no row when 100,000 rows come again, and needs the memory of a page for them', async () => {
  const state = async (): Promise<unknown> => {
    const { rows } = await db.pool.query(
      `select count(*) as rows, max(xmin::text::bigint) as newest, (select count(*) from changes c where c.customer_id = $1) as changes
       from transactions where customer_id = $1`,
      [account.customerId],
    );
    return rows[0];
  };
  // 100,000 rows are some 100 MB here; a page is one.
  expect(await sync(account, 100_000)).toBeLessThan(30);
  const first = await state();
  expect(first).toMatchObject({ rows: '100000', changes: '100000' });
  expect(await sync(account, 100_000)).toBeLessThan(30);
  expect(await state()).toEqual(first);
}, 180_000);

it('asks whether a booking is the pending row that went at an earlier reading', async () => {
  const others = [row(1, -10), row(2, -20)];
  await take(db.pool, account, [...others, row(3, -70, pending)]);
  await take(db.pool, account, others);
  await take(db.pool, account, [...others, row(3, -70)]);
  const { rows } = await db.pool.query<{ id: string; status: string; flag: string | null }>(
    'select id, status, flag from transactions where account_id = $1 and amount_minor = -7000',
    [account.accountId],
  );
  const gone = rows.find(({ status }) => status === 'PENDING');
  const booked = rows.find(({ status }) => status === 'BOOKED');
  expect(booked?.flag && JSON.parse(booked.flag)).toEqual({ reason: 'uncertain-link', candidates: [gone?.id] });
});

describe('a pending row that was dropped before', () => {
  it('is a candidate still, so that another that goes later is not taken for the booking', async () => {
    const [rent, other, booked] = [row(1, -800), row(3, -5, pending), row(5, -5)];
    await counts([rent, row(2, -5, pending), other]);
    expect(await counts([rent, other, booked])).toEqual({ ...noCounts(), removed: 1, added: 1 });
    expect(await counts([rent, booked])).toEqual({ ...noCounts(), removed: 1 });
    const { rows } = await db.pool.query<{ flag: string }>(
      'select flag from transactions where account_id = $1 and flag is not null',
      [account.accountId],
    );
    expect(rows).toEqual([{ flag: expect.stringContaining('uncertain-link') }]);
  });
});
