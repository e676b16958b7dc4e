import { apply, type LoggedTransaction } from '../../../apps/bff/src/sync/change-log.js';
import { type KnownTransaction, reconcile, unknownPolicy } from '../../../apps/bff/src/sync/reconcile.js';
import { rowOf, type TransactionRow } from '../../../apps/bff/src/sync/transaction-row.js';
import { dateOfDay } from './bank.js';
import { Random } from './random.js';

/** A row that a bank may show several times; no two kinds could be taken for each other. */
interface Kind {
  text: string;
  minor: number;
  day: number;
  pending: boolean;
}

const texts = ['COFFEE', 'PARKING', 'NETFLIX', 'SALARY', 'BOOKSHOP', 'GARAGE', 'THEATRE', 'ZOO'] as const;

/** What is wrong, with the seed, where a row is not stored as often as the bank showed it at one time, less proven removals. */
export function twinFault(seed: number): string | undefined {
  const random = new Random(seed);
  const kinds = texts.slice(0, random.between(1, texts.length)).map((text, index): Kind => {
    return { text, minor: -(index + 1) * 111, day: random.between(0, 30), pending: random.chance(0.4) };
  });
  const ledger = new TwinLedger();
  const expected = new Map<Kind, number>(kinds.map((kind) => [kind, 0]));
  for (let fetch = random.between(2, 8); fetch > 0; fetch -= 1) {
    const from = random.chance(0.4) ? random.between(0, 25) : undefined;
    const shown = kinds.map((kind): [Kind, number] => [
      kind,
      from !== undefined && kind.day < from ? 0 : random.pick([0, 1, 1, 2, 2, 3, 5]),
    ]);
    ledger.see(shown, from);
    settle(expected, shown, from);
    for (const kind of kinds) {
      const [stored, wanted] = [ledger.stored(kind), expected.get(kind)];
      if (stored !== wanted) return `twins, seed ${seed}: ${kind.text} is stored ${stored} times, not ${wanted}`;
    }
  }
  return undefined;
}

/** What has to be stored: the most that was shown at one time; of pending rows, no more than the last answer of their time shows. */
function settle(expected: Map<Kind, number>, shown: readonly [Kind, number][], from: number | undefined): void {
  const isEmpty = shown.every(([, times]) => times === 0);
  const isKnown = ([kind, times]: [Kind, number]) =>
    !kind.pending && times > 0 && (from === undefined || kind.day >= from);
  const provesNothing = isEmpty && [...expected].some(isKnown);
  for (const [kind, times] of shown) {
    const covered = (from === undefined || kind.day >= from) && !provesNothing;
    expected.set(kind, kind.pending && covered ? times : Math.max(times, expected.get(kind) ?? 0));
  }
}

/** The table that the changes make, and what of it is live. */
class TwinLedger {
  private readonly table = new Map<string, LoggedTransaction>();
  private sequence = 0n;

  see(shown: readonly [Kind, number][], from: number | undefined): void {
    const rows = shown.flatMap(([kind, times]) => Array.from({ length: times }, () => toRow(kind)));
    const known = this.live.map(({ row, joinedInto, ...rest }): KnownTransaction => ({
      ...row,
      ...rest,
      into: joinedInto,
    }));
    const window = { from: from === undefined ? null : dateOfDay(from), before: null };
    const ids = new Map(rows.map((row) => [row, `t${(this.sequence += 1n)}`]));
    const terms = { newId: (row: TransactionRow) => ids.get(row) ?? '', policy: unknownPolicy };
    for (const change of reconcile<TransactionRow>(known, { rows, ...window }, terms).changes) {
      apply(this.table, { accountId: 'a', sequence: this.sequence, recordedAt: dateOfDay(0) }, change);
    }
  }

  stored({ text }: Kind): number {
    return this.live.filter(({ row }) => row.description === text).length;
  }

  private get live(): LoggedTransaction[] {
    return [...this.table.values()].filter(({ removedAt }) => removedAt === null);
  }
}

function toRow({ text, minor, day, pending }: Kind): TransactionRow {
  const date = dateOfDay(day).toISOString();
  return rowOf({
    date,
    bookingDateTime: date,
    status: pending ? 'PENDING' : 'BOOKED',
    transactionAmount: { amount: minor / 100, currency: 'GBP' },
    description: text,
  });
}
