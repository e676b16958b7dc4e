import type { Comparable } from './transaction-row.js';

/** What an answer was asked for and how far it reaches. */
export interface Window {
  /** What was asked for, both ends included; null is open. */
  from: Date | null;
  before: Date | null;
  /**
   * From when on the answer is sure to hold everything. Banks silently shorten long histories, so without it the answer is
   * taken to reach back to its own earliest row.
   */
  completeFrom?: Date;
}

/** The bank's date of a row: booking date, else value date. */
export function dateOf(row: Pick<Comparable, 'bookedAt' | 'valueAt'>): Date | null {
  return row.bookedAt ?? row.valueAt;
}

/** Whether an instant lies in what was asked for. */
export function isAsked({ from, before }: Window, at: Date): boolean {
  return (!from || at >= from) && (!before || at <= before);
}

/**
 * Whether a known transaction would be in the answer if the bank still had it. `earliest` is the date of the answer's first
 * row. Nothing at all where bookings are known is a fault of the bank far more often than the truth, so such an answer proves
 * nothing: the caller says so by `isSuspicious`.
 */
export function coverage(
  window: Window,
  { earliest, isEmpty, isSuspicious }: { earliest: Date | null; isEmpty: boolean; isSuspicious: boolean },
): (known: Comparable) => boolean {
  if (isSuspicious) return () => false;
  const start =
    window.completeFrom?.getTime() ??
    (isEmpty ? Number.NEGATIVE_INFINITY : (earliest?.getTime() ?? Number.POSITIVE_INFINITY));
  return (each) => {
    const at = dateOf(each);
    // However short its history, a bank shows what is pending. A pending row without a date belongs to the present, which an
    // answer that is open at its end includes.
    if (!at) return each.status === 'PENDING' && window.before === null;
    return isAsked(window, at) && (each.status === 'PENDING' || at.getTime() >= start);
  };
}
