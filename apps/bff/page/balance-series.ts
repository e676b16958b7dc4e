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

const dayMs = 86_400_000;

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

/** Whole days from one day to another. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / dayMs);
}

/** The day so many days after another. */
export function dayAfter(from: string, days: number): string {
  return new Date(Date.parse(from) + days * dayMs).toISOString().slice(0, 10);
}

/** A balance holds until the next booking: the last point that is not after the day. */
export function balanceOn(points: readonly BalancePoint[], day: string): number | undefined {
  return points.findLast((point) => point.day <= day)?.balance;
}

/** Round values from below the lowest to above the highest, so many at most, for the lines of an axis. */
export function axisValues(low: number, high: number, linesMax = 5): number[] {
  if (low === high) return axisValues(low, low + 1, linesMax);
  const size = 10 ** Math.floor(Math.log10((high - low) / (linesMax - 1)));
  const fits = (step: number) => Math.ceil(high / step) - Math.floor(low / step) < linesMax;
  const step = [1, 2, 5, 10, 20].map((times) => times * size).find(fits) ?? 50 * size;
  const first = Math.floor(low / step);
  return Array.from({ length: Math.ceil(high / step) - first + 1 }, (_, index) => (first + index) * step);
}

/** The first days of the months between two days. */
export function monthStarts(from: string, to: string): string[] {
  const starts: string[] = [];
  const [year = 0, month = 1] = from.split('-').map(Number);
  for (let next = month; ; next += 1) {
    const start = new Date(Date.UTC(year, next, 1)).toISOString().slice(0, 10);
    if (start > to) return starts;
    starts.push(start);
  }
}

/** Sums are taken in whole hundredths, so that thousands of bookings do not drift. */
function toMinor(amount: number): number {
  return Math.round(amount * 100);
}
