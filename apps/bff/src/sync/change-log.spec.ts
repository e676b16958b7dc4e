import * as fc from 'fast-check';
import type { Transaction } from '#libs/contract';
import type { Change } from './change.js';
import type { TransactionRow } from './transaction-row.js';
import { apply, BrokenLog, changeOf, entryOf, replay, type LogEntry, type LoggedTransaction } from './change-log.js';
import { reconcile, unknownPolicy } from './reconcile.js';
import { rowOf } from './transaction-row.js';

const recordedAt = new Date('2024-05-01T12:00:00Z');
const said = fc.record({
  id: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
  day: fc.integer({ min: 1, max: 5 }),
  amount: fc.constantFrom(-3.5, -12, 40),
  text: fc.constantFrom('COFFEE BAR LONDON', 'COFFEE BAR', 'RENT'),
  pending: fc.boolean(),
});
const history = fc.array(fc.array(said, { maxLength: 10 }), { maxLength: 6 });

function toRow({
  id,
  day,
  amount,
  text,
  pending,
}: {
  id: string | undefined;
  day: number;
  amount: number;
  text: string;
  pending: boolean;
}) {
  const date = `2024-03-0${day}T00:00:00.000Z`;
  const transaction: Transaction = {
    date,
    status: pending ? 'PENDING' : 'BOOKED',
    transactionAmount: { amount, currency: 'GBP' },
    description: text,
  };
  return rowOf(id === undefined ? transaction : { id, ...transaction });
}

/** Reconciles a whole history, applying every change at once and logging it. */
function live(answers: Parameters<typeof toRow>[0][][]): { table: Map<string, LoggedTransaction>; log: LogEntry[] } {
  const table = new Map<string, LoggedTransaction>();
  const log: LogEntry[] = [];
  let made = 0;
  for (const answer of answers) {
    const known = [...table.values()]
      .filter(({ removedAt, joinedInto }) => !removedAt || joinedInto !== null)
      .map(({ row, joinedInto, ...rest }) => ({ ...row, ...rest, into: joinedInto }));
    const rows = answer.map(toRow);
    const ids = new Map(rows.map((row) => [row, `t${(made += 1)}`]));
    const terms = { newId: (row: TransactionRow) => ids.get(row) ?? '', policy: unknownPolicy };
    for (const change of reconcile<TransactionRow>(known, { rows, from: null, before: null }, terms).changes) {
      const entry = { sequence: BigInt(log.length + 1), recordedAt, ...entryOf(change, 'a') };
      log.push(entry);
      apply(table, entry, change);
    }
  }
  return { table, log };
}

it('rebuilds the table bit for bit from the log alone', () => {
  fc.assert(
    fc.property(history, (answers) => {
      const { table, log } = live(answers);
      expect(replay(log)).toEqual(table);
    }),
    { numRuns: 1000 },
  );
});

it('says the same thing twice', () => {
  fc.assert(
    fc.property(history, (answers) => {
      const { log } = live(answers);
      for (const entry of log) expect(entry).toMatchObject(entryOf(changeOf(entry), 'a'));
    }),
    { numRuns: 300 },
  );
});

it('gives a transaction one id for ever', () => {
  fc.assert(
    fc.property(history, (answers) => {
      const added = live(answers)
        .log.filter(({ kind }) => kind === 'added')
        .map(({ transactionId }) => transactionId);
      expect(new Set(added).size).toBe(added.length);
    }),
    { numRuns: 300 },
  );
});

describe('a log that cannot be ours', () => {
  const row = toRow({ id: 'a', day: 1, amount: 1, text: 'x', pending: false });
  const entry = (sequence: bigint, change: Change<TransactionRow>): LogEntry => {
    return { sequence, recordedAt, ...entryOf(change, 'a') };
  };
  const add = (sequence: bigint, id = 't1') => entry(sequence, { kind: 'added', id, row });
  const remove = (sequence: bigint) => entry(sequence, { kind: 'removed', id: 't1', reason: 'pending-vanished' });

  it.each([
    ['a missing number', [add(1n), add(3n, 't2')]],
    ['a number used twice', [add(1n), add(1n, 't2')]],
    ['a lost beginning', [add(2n)]],
    ['an id added twice', [add(1n), add(2n)]],
    ['a change of something unknown', [remove(1n)]],
    ['a change of something removed', [add(1n), remove(2n), remove(3n)]],
  ])('is refused for %s', (_, log) => {
    expect(() => replay(log)).toThrow(BrokenLog);
  });
});
