import { dateOf } from './coverage.js';
import type { Evidence } from './identity-policy.js';
import type { Pair } from './pairing.js';
import type { Comparable } from './transaction-row.js';

const dayMs = 86_400_000;

/** Whether a pair is a pending transaction that is booked now. */
export function isBooking<R extends Comparable>({ known, row }: Pair<R>): boolean {
  return known.status === 'PENDING' && row.status === 'BOOKED';
}

/** What bookings among pairs teach: that the pending row went with the booking, and how far the date moved. */
export function bookingsOf<R extends Comparable>(pairs: readonly Pair<R>[]): Partial<Evidence> {
  const bookings = pairs.filter(isBooking);
  const days = bookings.flatMap(({ known, row }) => {
    const [from, to] = [dateOf(known), dateOf(row)];
    return from && to ? [Math.floor(to.getTime() / dayMs) - Math.floor(from.getTime() / dayMs)] : [];
  });
  const count = (least: number, most: number) => days.filter((each) => each >= least && each <= most).length;
  return {
    replaced: bookings.length,
    datesEarly: count(Number.NEGATIVE_INFINITY, -4),
    datesSooner: count(-3, -1),
    datesKept: count(0, 0),
    datesLater: count(1, 3),
    datesLate: count(4, 7),
    datesVeryLate: count(8, Number.POSITIVE_INFINITY),
  };
}
