import { differencesOf } from './booking-evidence.js';
import type { Comparison } from './comparison.js';
import type { KnownTransaction, Terms } from './reconcile.js';
import { fits, type Resemblance, resemble } from './resemblance.js';
import { agreement, isId, positional } from './same-id.js';
import type { Comparable } from './transaction-row.js';

/** A booking and the pending row that the bank shows beside it. */
export interface Beside<R> {
  pending: R;
  booked: R;
  /** The transaction that the pending row was, if it was known. */
  known: KnownTransaction | undefined;
  confidence: number;
}

interface Shown<R> {
  pending: R;
  known: KnownTransaction | undefined;
}

const demands = { known: () => true, row: () => true, daysBefore: 1, daysAfter: 21, soleMin: 0.5, bestMin: 0.6 };

/**
 * Some banks go on showing a pending row beside its booking; the two are one transaction. It is believed where both carry
 * the same id or the institution has this habit; where nothing is known of it, the booking is told to be in doubt.
 */
export function joinSideBySide<R extends Comparable>(
  comparison: Comparison<R>,
  { newId, policy }: Terms<R>,
  { sameDay = false, besides: before = [] }: { sameDay?: boolean; besides?: readonly Beside<R>[] },
): Beside<R>[] {
  const bookings = comparison.open.rows.filter(({ status }) => status === 'BOOKED');
  if (bookings.length === 0) return [];
  const { repeated } = comparison;
  const joined = new Set(before.map(({ pending }) => pending));
  const shown = shownPending(comparison).filter(({ pending }) => !joined.has(pending));
  if (shown.length === 0) return [];
  const besides = policy.ids === 'unstable' ? [] : sameIds(shown, bookings, policy.ids === 'stable');
  if (policy.sideBySide !== 'never') {
    const taken = new Set<R>(besides.flatMap(({ pending, booked }) => [pending, booked]));
    const byId = new Map<string, Shown<R>>();
    // Where ids outlive the booking, another id is another transaction.
    const isHeld = (id: string | null) =>
      policy.ids !== 'unstable' && policy.bookingIds === 'kept' && id !== null && isId(id) && !repeated.has(id);
    for (const each of shown) {
      if (taken.has(each.pending) || isHeld(each.pending.bankId)) continue;
      if (each.known && comparison.awaits(each.known)) continue;
      byId.set(each.known?.id ?? newId(each.pending), each);
    }
    const known = [...byId].map(([id, { pending }]): KnownTransaction => ({ ...pending, ...nothing, id }));
    // A booking may as well be that of a pending row which is gone; only of the same day what is shown is nearer.
    const gone = sameDay ? [] : comparison.gonePending();
    const { links, uncertain } = resemble(
      { known: [...known, ...gone], rows: bookings.filter((row) => !taken.has(row)) },
      {
        ...demands,
        ...(sameDay ? { daysBefore: 0, daysAfter: 0 } : { usualDays: policy.usualDays }),
        sameText: policy.texts === 'kept',
        numbersVary: policy.numbers === 'changing',
      },
    );
    const replaced: Resemblance<R>[] = [];
    for (const link of links) {
      const { known: of, row, confidence } = link;
      const each = byId.get(of.id);
      if (each && policy.sideBySide === 'habit') besides.push({ ...each, booked: row, confidence });
      else if (!each && fits(of, row, policy)) replaced.push(link);
      else uncertain.set(row, [of.id]);
    }
    comparison.takeBooked(replaced);
    if (!sameDay) comparison.doubt(uncertain);
  }
  comparison.learn({
    ...differencesOf(besides.map(({ pending, booked }) => [pending, booked])),
    sideBySide: besides.length,
  });
  const gone = new Set(besides.flatMap(({ pending, booked }) => [pending, booked]));
  comparison.open.rows = comparison.open.rows.filter((row) => !gone.has(row));
  return besides;
}

const nothing = { flag: null, into: null, apartFrom: [], dismissed: null };

/** The pending rows of this answer that are no face of a booked transaction. */
function shownPending<R extends Comparable>({ same, found, open }: Comparison<R>): Shown<R>[] {
  const recognised = [...same, ...found]
    .filter(({ known, row }) => row.status === 'PENDING' && known.into === null)
    .map(({ known, row }): Shown<R> => ({ pending: row, known }));
  const fresh = open.rows.filter(({ status }) => status === 'PENDING');
  return [...recognised, ...fresh.map((pending): Shown<R> => ({ pending, known: undefined }))];
}

/** One pending row and one booking under one id. */
function sameIds<R extends Comparable>(
  shown: readonly Shown<R>[],
  bookings: readonly R[],
  lasts: boolean,
): Beside<R>[] {
  const byId = Map.groupBy(shown, ({ pending }) => pending.bankId);
  const booked = Map.groupBy(bookings, ({ bankId }) => bankId);
  return [...booked].flatMap(([id, [row, ...more]]): Beside<R>[] => {
    const [one, ...others] = id !== null && isId(id) && !positional.test(id) ? (byId.get(id) ?? []) : [];
    if (!row || !one || more.length > 0 || others.length > 0) return [];
    const confidence = agreement(one.pending, row, { texts: new Map(), lasts });
    return confidence === undefined ? [] : [{ ...one, booked: row, confidence }];
  });
}
