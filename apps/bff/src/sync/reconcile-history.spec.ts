import * as fc from 'fast-check';
import type { Transaction } from '#libs/contract';
import type { Change } from './change.js';
import { apply, type LoggedTransaction } from './change-log.js';
import { reconcile, unknownPolicy, type KnownTransaction } from './reconcile.js';
import { rowOf, type TransactionRow } from './transaction-row.js';

/** What truly happened, which no bank tells. */
interface Truth {
  truth: string;
  merchant: string;
  minor: number;
  day: number;
  /** Days from the first sight, while it is pending, to the booking. */
  delay: number;
  cancelled: boolean;
}

/** The bad habits of a bank. */
interface Habits {
  ids: 'stable' | 'changed-on-booking' | 'only-booked' | 'blank' | 'positional' | 'reissued';
  texts: 'same' | 'extended' | 'cleaned';
  dates: 'kept' | 'moved-to-booking';
}

type Labelled = TransactionRow & { truth: string };

const merchants = [
  'TESCO STORES 2209',
  'NETFLIX.COM',
  'UBER *TRIP',
  'BOOTS THE CHEMIST',
  'PRET A MANGER',
  'AMZNMKTPLACE',
  'SHELL OXFORD ROAD',
];
const dayMs = 86_400_000;
const isoDay = (day: number): string => new Date(Date.UTC(2024, 0, 1) + day * dayMs).toISOString();

/** The complete answer of a bank with these habits on a day. */
function answerOf(truths: readonly Truth[], habits: Habits, today: number): Labelled[] {
  const visible = truths.filter(({ day, delay, cancelled }) => day <= today && !(cancelled && today >= day + delay));
  return visible.map((truth, position): Labelled => {
    const pending = today < truth.day + truth.delay;
    const date = isoDay(habits.dates === 'kept' || pending ? truth.day : truth.day + truth.delay);
    const id = idOf({ truth: truth.truth, position, pending, today }, habits);
    const transaction: Transaction = {
      ...(id === undefined ? {} : { id }),
      date,
      bookingDateTime: date,
      status: pending ? 'PENDING' : 'BOOKED',
      transactionAmount: { amount: truth.minor / 100, currency: 'GBP' },
      description: textOf(truth.merchant, pending, habits),
    };
    return { ...rowOf(transaction), truth: truth.truth };
  });
}

function idOf(
  { truth, position, pending, today }: { truth: string; position: number; pending: boolean; today: number },
  { ids }: Habits,
): string | undefined {
  if (ids === 'stable') return truth;
  if (ids === 'changed-on-booking') return `${pending ? 'p' : 'b'}${truth}`;
  if (ids === 'only-booked') return pending ? undefined : truth;
  if (ids === 'blank') return ' ';
  return ids === 'positional' ? String(position) : `${truth}.${today}`;
}

function textOf(merchant: string, pending: boolean, { texts }: Habits): string {
  if (texts === 'same') return merchant;
  if (texts === 'extended') return pending ? merchant : `CARD PAYMENT TO ${merchant} LONDON GB`;
  return pending ? `VISA 4411 ${merchant} GBP` : merchant.toLowerCase();
}

class Ledger {
  readonly table = new Map<string, LoggedTransaction>();
  /** Which truths each of our ids has stood for. */
  readonly stoodFor = new Map<string, Set<string>>();
  flagged = 0;
  private sequence = 0n;

  see(rows: Labelled[]): Change<Labelled>[] {
    const ids = new Map(rows.map((row) => [row, `t${(this.sequence += 1n)}`]));
    const terms = { newId: (row: Labelled) => ids.get(row) ?? '', policy: unknownPolicy };
    const { changes } = reconcile<Labelled>(this.known, { rows, from: null, before: null }, terms);
    for (const change of changes) {
      apply(this.table, { accountId: 'a', sequence: this.sequence, recordedAt: new Date(0) }, change);
      if ('flag' in change) this.flagged += 1;
      if ('row' in change) this.note(change.id, change.row);
    }
    return changes;
  }

  get live(): LoggedTransaction[] {
    return [...this.table.values()].filter(({ removedAt }) => removedAt === null);
  }

  private get known(): KnownTransaction[] {
    return [...this.table.values()]
      .filter(({ removedAt, joinedInto }) => removedAt === null || joinedInto !== null)
      .map(({ row, joinedInto, ...rest }) => ({ ...row, ...rest, into: joinedInto }));
  }

  private note(id: string, { truth }: Labelled): void {
    const seen = this.stoodFor.get(id) ?? new Set();
    this.stoodFor.set(id, seen.add(truth));
  }
}

const habits = fc.record<Habits>({
  ids: fc.constantFrom('stable', 'changed-on-booking', 'only-booked', 'blank', 'positional', 'reissued'),
  texts: fc.constantFrom('same', 'extended', 'cleaned'),
  dates: fc.constantFrom('kept', 'moved-to-booking'),
});
const truths = (minor: fc.Arbitrary<number>, amountsDiffer = false) =>
  fc
    .uniqueArray(
      fc.record({
        merchant: fc.constantFrom(...merchants),
        minor,
        day: fc.integer({ min: 0, max: 40 }),
        delay: fc.integer({ min: 0, max: 5 }),
        cancelled: fc.nat(19).map((chance) => chance === 0),
      }),
      { minLength: 5, maxLength: 60, selector: (each) => (amountsDiffer ? each.minor : each) },
    )
    .map((list) =>
      list.map((each, at): Truth => ({
        truth: `x${at}`,
        ...each,
        delay: each.cancelled ? Math.max(1, each.delay) : each.delay,
      })),
    );
const fetchDays = fc
  .uniqueArray(fc.integer({ min: 0, max: 50 }), { minLength: 3, maxLength: 12 })
  .map((days) => days.toSorted((a, b) => a - b));

it('loses nothing and stores nothing twice, whatever the habits of the bank', () => {
  fc.assert(
    fc.property(truths(fc.constantFrom(-350, -350, -999, -1200)), habits, fetchDays, (list, bad, days) => {
      const ledger = new Ledger();
      for (const day of days) {
        const rows = answerOf(list, bad, day);
        ledger.see(rows);
        const kept = ledger.live.filter(({ flag }) => flag?.reason !== 'booked-vanished');
        expect(kept.length).toBe(rows.length);
      }
    }),
    { numRuns: 600 },
  );
});

it('gives each transaction one id for life where amounts tell transactions apart', () => {
  let ids = 0;
  let split = 0;
  fc.assert(
    fc.property(truths(fc.integer({ min: -90_000, max: -1 }), true), habits, fetchDays, (list, bad, days) => {
      const ledger = new Ledger();
      for (const day of days) ledger.see(answerOf(list, bad, day));
      const perTruth = new Map<string, number>();
      for (const stood of ledger.stoodFor.values()) {
        ids += 1;
        expect(stood.size).toBe(1);
        for (const truth of stood) perTruth.set(truth, (perTruth.get(truth) ?? 0) + 1);
      }
      split += [...perTruth.values()].filter((times) => times > 1).length;
    }),
    { numRuns: 400 },
  );
  expect(split / ids).toBeLessThan(0.02);
});
