/** The balance at the end of one day. */
export interface BalancePoint {
  /** `2026-11-21` */
  day: string;
  balance: number;
}

/** What the series needs of a booked transaction. */
export interface Booking {
  /** ISO instant. */
  bookedAt: string;
  /** Signed: negative is money out. */
  amount: number;
}

/**
 * Day's end balances, oldest first: the balance of now, taken back booking by booking. The first point is the day of the
 * earliest booking, the last is `today`; days without a booking are left out.
 */
export function balanceSeries(balance: number, today: string, bookings: readonly Booking[]): BalancePoint[] {
  const minorByDay = new Map<string, number>();
  for (const { bookedAt, amount } of bookings) {
    const bookedOn = bookedAt.slice(0, 10);
    if (bookedOn <= today) minorByDay.set(bookedOn, (minorByDay.get(bookedOn) ?? 0) + toMinor(amount));
  }
  let minor = toMinor(balance);
  const points: BalancePoint[] = [{ day: today, balance: minor / 100 }];
  for (const bookedOn of [...minorByDay.keys()].toSorted().toReversed()) {
    if (bookedOn !== today) points.push({ day: bookedOn, balance: minor / 100 });
    minor -= minorByDay.get(bookedOn) ?? 0;
  }
  return points.toReversed();
}

/** Sums are taken in whole hundredths, so that thousands of bookings do not drift. */
function toMinor(amount: number): number {
  return Math.round(amount * 100);
}
