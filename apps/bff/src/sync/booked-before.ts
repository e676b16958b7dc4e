import { dateOf } from './coverage.js';
import type { Open, Pair } from './pairing.js';
import type { KnownTransaction } from './reconcile.js';
import { type Demands, fits } from './resemblance.js';
import { amountOf, type Comparable, purchaseOf } from './transaction-row.js';

/** A pending transaction that is gone, and its booking, which had been shown beside it. */
export interface Late<R> {
  known: KnownTransaction;
  twin: Pair<R>;
}

type Within = Pick<Demands, 'daysBefore' | 'daysAfter'>;

/** What bookings that are still shown may have been while pending. */
export function claimedIds<R>(same: readonly Pair<R>[]): ReadonlySet<string> {
  return new Set(
    same.flatMap(({ known: { flag, into, status } }) =>
      status === 'BOOKED' && into === null && flag?.reason === 'uncertain-link' ? flag.candidates : [],
    ),
  );
}

/**
 * Pending transactions that are gone now, after a booking that could be theirs had been shown beside them: it was. Only where
 * as many bookings have the same candidates as candidates are gone, their order means nothing where they are several, and none
 * of the candidates had been dropped before: it would be as likely.
 */
export function bookedBefore<R extends Comparable>(
  gone: readonly KnownTransaction[],
  same: readonly Pair<R>[],
  { within, dropped = [] }: { within: Within; dropped?: readonly KnownTransaction[] | undefined },
): Late<R>[] {
  const pending = new Map(
    gone.filter(({ status, into }) => status === 'PENDING' && into === null).map((each) => [each.id, each]),
  );
  if (pending.size === 0) return [];
  const droppedIds = new Set(dropped.map(({ id }) => id));
  const claims = same.filter(
    ({ known: { flag, status, into } }) =>
      status === 'BOOKED' &&
      into === null &&
      flag?.reason === 'uncertain-link' &&
      flag.candidates.some((id) => pending.has(id)) &&
      !flag.candidates.some((id) => droppedIds.has(id)),
  );
  const goneOf = ({ known: { id, flag, apartFrom }, row }: Pair<R>) =>
    (flag?.candidates ?? []).filter((each) => {
      const known = pending.get(each);
      const isApart = apartFrom.includes(each) || known?.apartFrom.includes(id);
      return known && !isApart && fits(known, row, within);
    });
  const groups = Map.groupBy(claims, (claim) =>
    goneOf(claim)
      .toSorted((a, b) => (a < b ? -1 : 1))
      .join(' '),
  );
  const claimed = [...groups.keys()].flatMap((key) => key.split(' '));
  return [...groups].flatMap(([key, twins]) => {
    const ids = key.split(' ').filter((id) => id !== '' && claimed.indexOf(id) === claimed.lastIndexOf(id));
    if (ids.length !== twins.length) return [];
    if (!areEqual(twins.map(({ row }) => row)) && !areEqual(ids.flatMap((id) => pending.get(id) ?? []))) return [];
    const ordered = twins.toSorted((a, b) => (a.known.id < b.known.id ? -1 : 1));
    return ordered.flatMap((twin, index): Late<R>[] => {
      const known = pending.get(ids[index] ?? '');
      return known && known.amountMinor === twin.row.amountMinor ? [{ known, twin }] : [];
    });
  });
}

/** Whether nobody could tell them apart. */
function areEqual(list: readonly Comparable[]): boolean {
  return new Set(list.map(purchaseOf)).size === 1;
}

/** Whether a booking that comes only now reads just as the pending row did, and the one that was shown beside it does not. */
export function betterExplained<R extends Comparable>(open: Open<R>): (late: Late<R>) => boolean {
  const keyOf = (each: Comparable) => `${amountOf(each)} ${each.description}`;
  const booked = new Set(open.rows.filter(({ status }) => status === 'BOOKED').map(keyOf));
  return ({ known, twin }) =>
    known.description !== null && known.description !== twin.row.description && booked.has(keyOf(known));
}

/** Those whose booking is of their day, while no row that is still open and of their amount lies so near. */
export function nearest<R extends Comparable>(late: readonly Late<R>[], open: Open<R>): Late<R>[] {
  return late.filter(({ known, twin }) => {
    const isRival = (row: R) =>
      row.status === 'BOOKED' &&
      row.amountMinor === known.amountMinor &&
      row.currency === known.currency &&
      distance(row, known) <= distance(twin.row, known);
    return distance(twin.row, known) < dayMs && !open.rows.some(isRival);
  });
}

const dayMs = 86_400_000;

/** What has no date is near to nothing. */
function distance(one: Comparable, other: Comparable): number {
  const [from, to] = [dateOf(one)?.getTime(), dateOf(other)?.getTime()];
  return from === undefined || to === undefined ? Number.POSITIVE_INFINITY : Math.abs(to - from);
}
