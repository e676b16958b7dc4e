import { dateOf } from './coverage.js';
import { type Evidence, movedBy } from './identity-policy.js';
import { areApart, areNumbered } from './likeness.js';
import type { Pair } from './pairing.js';
import type { Comparable } from './transaction-row.js';

const dayMs = 86_400_000;

type Sides = { known: Comparable; row: Comparable };

/** Whether a pair is a pending transaction that is booked now. */
export function isBooking<R extends Comparable>({ known, row }: Pair<R>): boolean {
  return known.status === 'PENDING' && row.status === 'BOOKED';
}

/** What bookings among pairs teach: that the pending row went with the booking, and what differs. */
export function bookingsOf<R extends Comparable>(pairs: readonly Pair<R>[]): Partial<Evidence> {
  const bookings = pairs.filter(isBooking);
  return { replaced: bookings.length, ...differencesOf(bookings.map(({ known, row }) => [known, row])) };
}

/** Whether the bank has given the two different ids. */
export function isOtherId({ known, row }: Sides): boolean {
  return known.bankId !== null && row.bankId !== null && known.bankId !== row.bankId;
}

/** What a person teaches who says that a booking is that of a pending row, which is still shown beside it or gone. */
export function toldBooking({ known, row }: Sides, { isShown }: { isShown: boolean }): Partial<Evidence> {
  return {
    ...differencesOf([[known, row]]),
    ...(isShown ? { sideBySide: 1 } : { replaced: 1 }),
    ...(isOtherId({ known, row }) ? { bookedOtherId: 1 } : {}),
  };
}

/** By how many days the dates of pending rows and their bookings differ, and whether their texts do. */
export function differencesOf(
  bookings: readonly (readonly [pending: Comparable, booked: Comparable])[],
): Partial<Evidence> {
  const seen: Partial<Evidence> = {};
  const count = (name: keyof Evidence) => (seen[name] = (seen[name] ?? 0) + 1);
  for (const [pending, booked] of bookings) {
    const [from, to] = [dateOf(pending), dateOf(booked)];
    if (from && to) count(movedBy(Math.floor(to.getTime() / dayMs) - Math.floor(from.getTime() / dayMs)));
    const [before, after] = [pending.description, booked.description];
    if (before !== null && after !== null) count(before === after ? 'textsKept' : 'textsChanged');
    if (areNumbered(before, after)) count(areApart(before, after) ? 'numbersChanged' : 'numbersKept');
  }
  return seen;
}
