import * as fc from 'fast-check';
import type { Transaction } from '#libs/contract';
import type { Change } from './change.js';
import { apply, type LoggedTransaction } from './change-log.js';
import { reconcile, type Answer, type KnownTransaction } from './reconcile.js';
import { rowOf, type TransactionRow } from './transaction-row.js';

interface Said {
  id?: string;
  day?: number;
  amount?: number;
  text?: string;
  pending?: boolean;
}

/** What a bank says of one transaction, on a day of March 2024. */
function row({ id, day = 1, amount = -3.5, text = 'COFFEE BAR LONDON', pending = false }: Said = {}): TransactionRow {
  const date = `2024-03-${String(day).padStart(2, '0')}T00:00:00.000Z`;
  const transaction: Transaction = {
    ...(id === undefined ? {} : { id }),
    date,
    bookingDateTime: date,
    status: pending ? 'PENDING' : 'BOOKED',
    transactionAmount: { amount, currency: 'GBP' },
    description: text,
  };
  return rowOf(transaction);
}

/** An account as the BFF keeps it: the reconciler's changes, applied. */
class Ledger {
  readonly table = new Map<string, LoggedTransaction>();
  private sequence = 0n;
  private made = 0;

  see(rows: TransactionRow[], window: Partial<Answer> = {}): Change[] {
    const changes = reconcile(
      this.known(),
      { rows, from: null, before: null, ...window },
      () => `t${(this.made += 1)}`,
    );
    for (const change of changes) {
      this.sequence += 1n;
      apply(this.table, { accountId: 'a', sequence: this.sequence, recordedAt: new Date(0) }, change);
    }
    return changes;
  }

  get live(): LoggedTransaction[] {
    return [...this.table.values()].filter(({ removedAt }) => removedAt === null);
  }

  known(): KnownTransaction[] {
    return this.live.map(({ id, flag, row: { wire: _wire, amount: _amount, ...rest } }) => ({ id, flag, ...rest }));
  }
}

const kinds = (changes: Change[]): string[] => changes.map(({ kind }) => kind);

describe('twins', () => {
  it('stores as many equal rows as the answer shows', () => {
    const ledger = new Ledger();
    ledger.see([row(), row(), row()]);
    expect(ledger.live).toHaveLength(3);
    expect(ledger.see([row(), row(), row()])).toEqual([]);
  });

  it('adds the one twin that is new', () => {
    const ledger = new Ledger();
    ledger.see([row(), row()]);
    expect(kinds(ledger.see([row(), row(), row()]))).toEqual(['added']);
  });

  it('keeps two equal rows with ids of their own apart', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: 'x' }), row({ id: 'y' })]);
    const ids = new Map(ledger.live.map(({ id, row: { bankId } }) => [bankId, id]));
    ledger.see([row({ id: 'y', text: 'COFFEE BAR LONDON GB' }), row({ id: 'x', text: 'COFFEE BAR LONDON GB' })]);
    expect(new Map(ledger.live.map(({ id, row: { bankId } }) => [bankId, id]))).toEqual(ids);
  });
});

describe('bank ids', () => {
  it.each([' ', '', 'NOTPROVIDED', 'notprovided', '0'])('takes %j for no id', (id) => {
    const ledger = new Ledger();
    ledger.see([row({ id, text: 'ONE SHOP' }), row({ id, text: 'OTHER PLACE', amount: -9 })]);
    expect(ledger.live).toHaveLength(2);
    expect(
      kinds(
        ledger.see([
          row({ id, text: 'A THIRD', amount: -1, day: 2 }),
          row({ id, text: 'ONE SHOP' }),
          row({ id, text: 'OTHER PLACE', amount: -9 }),
        ]),
      ),
    ).toEqual(['added']);
  });

  it('follows a row whose id was reissued', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: 'old' })]);
    expect(ledger.see([row({ id: 'new' })])).toMatchObject([{ kind: 'modified', id: 't1', rule: 'same-content' }]);
  });

  it('is not misled by positional ids when a late row shifts them', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: '0301.0', text: 'RENT', amount: -800 }), row({ id: '0301.1' })]);
    const changes = ledger.see([
      row({ id: '0301.0', text: 'BAKERY', amount: -3.5 }),
      row({ id: '0301.1', text: 'RENT', amount: -800 }),
      row({ id: '0301.2' }),
    ]);
    expect(changes.filter(({ kind }) => kind === 'added')).toHaveLength(1);
    expect(
      ledger.live.map(({ id, row: { description } }) => `${id} ${description}`).toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(['t1 RENT', 't2 COFFEE BAR LONDON', 't3 BAKERY']);
  });

  it('does not believe an id that is used again for something else', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: '9998', text: 'BOOKSHOP', amount: -20, day: 2 }), row({ id: 'z', day: 1, amount: -1 })]);
    const changes = ledger.see([
      row({ id: '9998', text: 'GARAGE', amount: -75, day: 20 }),
      row({ id: 'z', day: 1, amount: -1 }),
    ]);
    expect(kinds(changes)).toEqual(['flagged', 'added']);
  });

  it('does not follow a line number to another purchase in the same shop', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: '1', text: 'RENT', amount: -800 }), row({ id: '2', text: 'TESCO STORES', pending: true })]);
    const changes = ledger.see([
      row({ id: '1', text: 'RENT', amount: -800 }),
      row({ id: '2', text: 'TESCO STORES', amount: -60, pending: true, day: 2 }),
    ]);
    expect(kinds(changes)).toEqual(['removed', 'added']);
  });

  it('takes a corrected text under the same id for the same transaction', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: 'x', text: 'CRD 4411' })]);
    expect(ledger.see([row({ id: 'x', text: 'Hotel Adlon Berlin' })])).toMatchObject([
      { kind: 'modified', id: 't1', rule: 'bank-id' },
    ]);
  });
});

describe('pending rows', () => {
  it.each<[string, Said, Said]>([
    [
      'same id, other amount',
      { id: 'p', text: 'FUEL STATION 12', amount: -1 },
      { id: 'p', text: 'FUEL STATION 12 LEEDS', amount: -45.2, day: 3 },
    ],
    [
      'other id, date and longer text',
      { id: 'p', text: 'TESCO STORES 2209' },
      { id: 'q', text: 'CARD PURCHASE TESCO STORES 2209 LONDON', day: 4 },
    ],
    ['no id', { text: 'NETFLIX.COM' }, { text: 'NETFLIX.COM AMSTERDAM', day: 2 }],
    ['booked before its expected day', { text: 'CAR HIRE CO', day: 20 }, { text: 'CAR HIRE CO', day: 9 }],
  ])('keep their id when booked: %s', (_, pending, booked) => {
    const ledger = new Ledger();
    const salary = row({ id: 's', text: 'SALARY', amount: 2000 });
    ledger.see([salary, row({ ...pending, pending: true })]);
    const before = ledger.live.find(({ row: { status } }) => status === 'PENDING')?.id;
    const changes = ledger.see([salary, row(booked)]);
    expect(changes).toMatchObject([{ kind: 'linked', id: before }]);
    expect(Reflect.get(changes[0] ?? {}, 'confidence')).toBeGreaterThan(0.9);
    expect(ledger.live).toHaveLength(2);
  });

  it('are removed when they vanish', () => {
    const ledger = new Ledger();
    ledger.see([row({ text: 'RENT', amount: -800 }), row({ pending: true, day: 2 })]);
    expect(ledger.see([row({ text: 'RENT', amount: -800 })])).toEqual([
      { kind: 'removed', id: 't2', reason: 'pending-vanished' },
    ]);
  });

  it('are linked in any order when nobody could tell them apart', () => {
    const ledger = new Ledger();
    ledger.see([row({ pending: true }), row({ pending: true })]);
    expect(
      kinds(ledger.see([row({ day: 2 }), row({ day: 2 }), row({ day: 2 })])).toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(['added', 'linked', 'linked']);
  });

  it('are flagged, not guessed, when two different rows could be what became of them', () => {
    const ledger = new Ledger();
    ledger.see([row({ pending: true, text: 'SQ *MARKET' }), row({ text: 'RENT', amount: -800 })]);
    const changes = ledger.see([
      row({ text: 'SQ *MARKET HALL', day: 2 }),
      row({ text: 'SQ *MARKET STREET', day: 2 }),
      row({ text: 'RENT', amount: -800 }),
    ]);
    expect(changes).toMatchObject([
      { kind: 'removed', id: 't1' },
      { kind: 'added', flag: { reason: 'uncertain-link', candidates: ['t1'] } },
      { kind: 'added', flag: { reason: 'uncertain-link', candidates: ['t1'] } },
    ]);
  });

  it('are not linked to money that went the other way', () => {
    const ledger = new Ledger();
    ledger.see([row({ pending: true, amount: -3.5 }), row({ text: 'RENT', amount: -800 })]);
    expect(kinds(ledger.see([row({ amount: 3.5 }), row({ text: 'RENT', amount: -800 })]))).toEqual([
      'removed',
      'added',
    ]);
  });
});

describe('booked rows that vanish', () => {
  it('are kept and flagged once, and cleared when they return', () => {
    const ledger = new Ledger();
    const rent = row({ text: 'RENT', amount: -800 });
    ledger.see([rent, row({ day: 2 })]);
    expect(ledger.see([rent])).toMatchObject([{ kind: 'flagged', id: 't2', flag: { reason: 'booked-vanished' } }]);
    expect(ledger.see([rent])).toEqual([]);
    expect(ledger.see([rent, row({ day: 2 })])).toEqual([{ kind: 'cleared', id: 't2' }]);
  });

  it('are followed when they are issued again with a new id and a cleaner text', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: 'a', text: 'VISA 4411 KIWI 505 OSLO NOK' })]);
    expect(ledger.see([row({ id: 'b', text: 'Kiwi 505 Oslo' })])).toMatchObject([
      { kind: 'modified', id: 't1', rule: 'reissued' },
    ]);
  });

  it('are not missed outside what was asked for', () => {
    const ledger = new Ledger();
    ledger.see([row({ day: 1 }), row({ day: 10, text: 'RENT', amount: -800 })]);
    const from = new Date('2024-03-05T00:00:00Z');
    expect(ledger.see([row({ day: 10, text: 'RENT', amount: -800 })], { from, completeFrom: from })).toEqual([]);
  });

  it('are not missed where the bank shortened its history', () => {
    const ledger = new Ledger();
    ledger.see([row({ day: 1 }), row({ day: 10, text: 'RENT', amount: -800 })]);
    expect(ledger.see([row({ day: 10, text: 'RENT', amount: -800 })])).toEqual([]);
  });

  it('are not missed in an answer that shows nothing at all', () => {
    const ledger = new Ledger();
    ledger.see([row(), row({ pending: true, day: 2 })]);
    expect(ledger.see([])).toEqual([]);
  });
});

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
const rowKey = ({ wire }: TransactionRow): string => wire;

function count(rows: readonly TransactionRow[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const each of rows) counts.set(rowKey(each), (counts.get(rowKey(each)) ?? 0) + 1);
  return counts;
}

describe('whatever a bank answers', () => {
  it('is stored exactly as often as it was shown', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const ledger = new Ledger();
        for (const rows of history) {
          ledger.see(rows);
          const kept = ledger.live.filter(({ flag }) => flag?.reason !== 'booked-vanished').map((each) => each.row);
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

it('compares 100,000 rows of which nothing is as it was within seconds', () => {
  const shop = (at: number, suffix = ''): TransactionRow =>
    row({
      id: `x${at}${suffix}`,
      day: 1 + (at % 28),
      amount: -(1 + (at % 20_000)) / 100,
      text: `SHOP ${at % 40}${suffix}`,
    });
  const indices = Array.from({ length: 100_000 }, (_, at) => at);
  const known = indices.map((at): KnownTransaction => ({ id: `t${at}`, flag: null, ...shop(at) }));
  const rows = indices.map((at) => shop(at, ' LTD'));
  const started = performance.now();
  const changes = reconcile(known, { rows, from: null, before: null }, () => 'new');
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(changes.filter(({ kind }) => kind === 'modified').length).toBeGreaterThan(99_000);
});
