import * as fc from 'fast-check';
import { Ledger, row } from './ledger.fixture.js';
import { reconcile, unknownPolicy, type KnownTransaction } from './reconcile.js';
import type { Comparable, TransactionRow } from './transaction-row.js';

const anyRow = fc
  .record({
    id: fc.option(fc.constantFrom('a', 'b', 'c', ' ', 'NOTPROVIDED'), { nil: undefined }),
    day: fc.integer({ min: 1, max: 4 }),
    amount: fc.constantFrom(-3.5, -3.5, -12, 40),
    text: fc.constantFrom('COFFEE BAR LONDON', 'COFFEE BAR', 'RENT', 'SALARY ACME'),
    pending: fc.boolean(),
  })
  .map(row);
const anyAnswer = fc.array(anyRow, { maxLength: 12 });
const anyHistory = fc.array(anyAnswer, { minLength: 1, maxLength: 6 });
const rowKey = ({ fingerprint }: Comparable): string => fingerprint;

function count(rows: readonly Comparable[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const each of rows) counts.set(rowKey(each), (counts.get(rowKey(each)) ?? 0) + 1);
  return counts;
}

describe('whatever a bank answers', { timeout: 120_000 }, () => {
  it('is stored exactly as often as it was shown', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const ledger = new Ledger();
        for (const rows of history) {
          ledger.see(rows);
          const kept = ledger.known().filter(({ flag }) => flag?.reason !== 'booked-vanished');
          const stored = count(kept);
          for (const [key, times] of count(rows)) expect(stored.get(key)).toBeGreaterThanOrEqual(times);
          // What is stored beyond the answer lies before its earliest row; an empty answer proves nothing.
          const earliest = Math.min(...rows.map(({ bookedAt }) => bookedAt?.getTime() ?? 0));
          const within = kept.filter((each) => (each.bookedAt?.getTime() ?? 0) >= earliest);
          expect(within.length).toBeLessThanOrEqual(rows.length);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('changes nothing when it is answered again', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const ledger = new Ledger();
        for (const rows of history) {
          ledger.see(rows);
          expect(ledger.see(rows)).toEqual([]);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('means the same in any order', () => {
    const shuffled = anyHistory.chain((history) =>
      fc.tuple(
        fc.constant(history),
        fc.tuple(...history.map((rows) => fc.shuffledSubarray(rows, { minLength: rows.length }))),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([history, other]) => {
        const one = new Ledger();
        const two = new Ledger();
        history.forEach((rows, index) => {
          one.see(rows);
          two.see(other[index] ?? []);
        });
        expect(new Map(two.live.map((each) => [each.id, rowKey(each.row)]))).toEqual(
          new Map(one.live.map((each) => [each.id, rowKey(each.row)])),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('never speaks of one transaction twice in one breath', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const ledger = new Ledger();
        for (const rows of history) {
          const ids = ledger.see(rows).map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

it('keeps the id of every pending row that is booked under the same amount and an extended text', () => {
  const purchase = fc.record({
    amount: fc.integer({ min: -90_000, max: -1 }).map((minor) => minor / 100),
    day: fc.integer({ min: 1, max: 20 }),
    text: fc.constantFrom(
      'TESCO STORES',
      'NETFLIX',
      'UBER TRIP',
      'BOOTS THE CHEMIST',
      'PRET A MANGER',
      'AMAZON MARKETPLACE',
    ),
    delay: fc.integer({ min: 0, max: 5 }),
  });
  const purchases = fc.uniqueArray(purchase, { maxLength: 30, selector: ({ amount, text }) => `${amount} ${text}` });
  fc.assert(
    fc.property(purchases, (list) => {
      const ledger = new Ledger();
      ledger.see(list.map(({ amount, day, text }) => row({ amount, day, text, pending: true })));
      const ids = ledger.live.map(({ id, row: each }) => `${id} ${each.amount} ${each.description}`);
      ledger.see(
        list.map(({ amount, day, text, delay }, at) =>
          row({ id: `b${at}`, amount, day: day + delay, text: `${text} LONDON` }),
        ),
      );
      expect(new Set(ledger.live.map(({ id, row: each }) => `${id} ${each.amount} ${each.description}`))).toEqual(
        new Set(ids.map((each) => `${each} LONDON`)),
      );
    }),
    { numRuns: 500 },
  );
});

it('compares 100,000 rows of which nothing is as it was in seconds of work', { timeout: 180_000 }, () => {
  const shop = (at: number, suffix = ''): TransactionRow =>
    row({
      id: `x${at}${suffix}`,
      day: 1 + (at % 28),
      amount: -(1 + (at % 20_000)) / 100,
      text: `SHOP ${at % 40}${suffix}`,
    });
  const indices = Array.from({ length: 100_000 }, (_, at) => at);
  const known = indices.map((at): KnownTransaction => ({
    ...shop(at),
    id: `t${at}`,
    flag: null,
    into: null,
    apartFrom: [],
    dismissed: null,
  }));
  const rows = indices.map((at) => shop(at, ' LTD'));
  const before = process.threadCpuUsage();
  const terms = { newId: () => 'new', policy: unknownPolicy };
  const { changes } = reconcile(known, { rows, from: null, before: null }, terms);
  // What the processor did, not what the clock says: others may keep the machine busy.
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(30_000);
  expect(changes.filter(({ kind }) => kind === 'modified').length).toBeGreaterThan(99_000);
});
