import { dateOf } from './coverage.js';
import type { Open, Pair } from './pairing.js';
import type { KnownTransaction } from './reconcile.js';
import type { Comparable } from './transaction-row.js';

/** A pending transaction that is gone, and its booking, which had been shown beside it. */
export interface Late<R> {
  known: KnownTransaction;
  twin: Pair<R>;
}

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
 * as many bookings have the same candidates as candidates are gone.
 */
export function bookedBefore<R extends Comparable>(
  gone: readonly KnownTransaction[],
  same: readonly Pair<R>[],
): Late<R>[] {
  const pending = new Map(
    gone.filter(({ status, into }) => status === 'PENDING' && into === null).map((each) => [each.id, each]),
  );
  if (pending.size === 0) return [];
  const claims = same.filter(
    ({ known: { flag, status, into } }) =>
      status === 'BOOKED' &&
      into === null &&
      flag?.reason === 'uncertain-link' &&
      flag.candidates.some((id) => pending.has(id)),
  );
  const goneOf = ({ known: { id, flag, apartFrom } }: Pair<R>) =>
    (flag?.candidates ?? []).filter(
      (each) => pending.has(each) && !apartFrom.includes(each) && !pending.get(each)?.apartFrom.includes(id),
    );
  const groups = Map.groupBy(claims, (claim) =>
    goneOf(claim)
      .toSorted((a, b) => (a < b ? -1 : 1))
      .join(' '),
  );
  const claimed = [...groups.keys()].flatMap((key) => key.split(' '));
  return [...groups].flatMap(([key, twins]) => {
    const ids = key.split(' ').filter((id) => id !== '' && claimed.indexOf(id) === claimed.lastIndexOf(id));
    if (ids.length !== twins.length) return [];
    const ordered = twins.toSorted((a, b) => (a.known.id < b.known.id ? -1 : 1));
    return ordered.flatMap((twin, index): Late<R>[] => {
      const known = pending.get(ids[index] ?? '');
      return known && known.amountMinor === twin.row.amountMinor ? [{ known, twin }] : [];
    });
  });
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
