import type { Found } from './comparison.js';
import { dateOf } from './coverage.js';
import { pairUp, type Open } from './pairing.js';
import type { Comparable } from './transaction-row.js';

const hourMs = 3_600_000;
/** By what a bank that reads its own dates otherwise than before moves all of them: a time zone, a day. */
const shiftsMs = [24, -24, 1, -1, 2, -2].map((hours) => hours * hourMs);
/** Fewer rows than this move by chance. */
const rowsMin = 10;
/** Equal purchases on more days in a row than this are rare. */
const stepsMax = 10;

/**
 * Finds the history that a bank shows again with all dates moved by the same amount. Row by row it could not be told: of
 * purchases on consecutive days each would be taken for its neighbour. Only where far more rows fit so than as they are.
 */
export function shifted<R extends Comparable>(open: Open<R>): Found<R>[] {
  const booked = open.rows.filter(({ status }) => status === 'BOOKED');
  if (Math.min(open.known.length, booked.length) < rowsMin) return [];
  const known = new Set(open.known.map((each) => keyOf(each, 0)));
  const fitting = (shiftMs: number) => booked.filter((row) => known.has(keyOf(row, -shiftMs))).length;
  const unmoved = fitting(0);
  const [best, fits] = shiftsMs
    .map((shiftMs): [number, number] => [shiftMs, fitting(shiftMs)])
    .reduce((most, each) => (each[1] > most[1] ? each : most));
  if (fits < rowsMin || fits < 3 * unmoved || fits < booked.length / 2) return [];
  // Equal purchases on days in a row have been taken for one another: the first and the last are left, a longer way apart.
  const steps = Array.from({ length: stepsMax }, (_, index) => (index + 1) * best);
  return steps.flatMap((shiftMs, index) =>
    pairUp(open, {
      known: (each) => (each.status === 'BOOKED' ? keyOf(each, 0) : undefined),
      row: (row) => (row.status === 'BOOKED' ? keyOf(row, -shiftMs) : undefined),
    }).map((pair): Found<R> => ({ ...pair, rule: 'reissued', confidence: index === 0 ? 0.97 : 0.9 })),
  );
}

function keyOf(row: Comparable, shiftMs: number): string {
  const at = dateOf(row)?.getTime();
  return `${row.status} ${at === undefined ? '' : at + shiftMs} ${row.amountMinor} ${row.currency} ${row.description}`;
}
