import { dateOf } from './coverage.js';
import type { Open } from './pairing.js';
import type { KnownTransaction } from './reconcile.js';
import { type Demands, fits } from './resemblance.js';
import type { Comparable } from './transaction-row.js';

/** Farther apart than this a pending row and its booking are not looked for. */
const daysMax = 35;
/** More are no help to a person. */
const candidatesMax = 5;

/** How far apart, and whether the sign may differ. */
export type Within = Partial<Pick<Demands, 'daysBefore' | 'daysAfter'>> & { anySign: boolean };

/**
 * The pending rows that each booking of the same amount and currency may have been, however they read: nearest first. Nothing
 * is linked by this; it is for what every rule has left over.
 */
export function farCandidates<R extends Comparable>(
  { known, rows }: Open<R>,
  { anySign, daysBefore = daysMax, daysAfter = daysMax }: Within,
): Map<R, string[]> {
  const keyOf = ({ amountMinor, currency }: Comparable) =>
    `${anySign && amountMinor !== null && amountMinor < 0n ? -amountMinor : amountMinor} ${currency}`;
  const inOrder = known.filter(({ amountMinor }) => amountMinor !== null).toSorted(byTime);
  const byAmount = Map.groupBy(inOrder, keyOf);
  const candidates = new Map<R, string[]>();
  for (const row of byAmount.size > 0 ? rows : []) {
    const near = nearest(byAmount.get(keyOf(row)) ?? [], row).filter((each) =>
      fits(each, row, { daysBefore, daysAfter }),
    );
    if (near.length > 0)
      candidates.set(
        row,
        near.slice(0, candidatesMax).map(({ id }) => id),
      );
  }
  return candidates;
}

/** Out of a list in the order of time, at whose end is what has no date; at least as many as are told, where there are. */
function nearest(list: readonly KnownTransaction[], row: Comparable): KnownTransaction[] {
  const time = timeOf(row);
  const at = firstFrom(list, time);
  const to = at + candidatesMax;
  const undatedFrom = Math.max(to, firstFrom(list, noTime));
  const near = [
    ...list.slice(Math.max(0, at - candidatesMax), to),
    ...list.slice(undatedFrom, undatedFrom + candidatesMax),
  ];
  const away = (each: Comparable) => Math.abs(timeOf(each) - time);
  return near.toSorted((a, b) => away(a) - away(b));
}

/** Where those begin that are not earlier. */
function firstFrom(list: readonly KnownTransaction[], time: number): number {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const each = list[middle];
    if (each && timeOf(each) < time) from = middle + 1;
    else to = middle;
  }
  return from;
}

function byTime(a: KnownTransaction, b: KnownTransaction): number {
  return timeOf(a) - timeOf(b) || (a.id < b.id ? -1 : 1);
}

/** After every date. */
const noTime = Number.MAX_SAFE_INTEGER;

function timeOf(row: Comparable): number {
  return dateOf(row)?.getTime() ?? noTime;
}
