import { isBooking } from './booking-evidence.js';
import type { Flagged } from './change.js';
import type { Comparison } from './comparison.js';
import { type IdentityPolicy, isShownBeside } from './identity-policy.js';
import { pairUp } from './pairing.js';
import type { KnownTransaction } from './reconcile.js';
import { type Comparable, isPending, purchaseOf } from './transaction-row.js';

/**
 * Of pending rows that a booking could be, one is gone and others are still shown. Either the one that is gone was booked, or it
 * was cancelled and the booking is that of one that is still shown beside it. It has been taken for the first; of the others
 * it is told that they may be the same as the booking.
 */
export function pendingInDoubt<R extends Comparable>(
  gone: readonly KnownTransaction[],
  comparison: Pick<Comparison<R>, 'same' | 'found' | 'late' | 'areToldApart'>,
  policy: IdentityPolicy,
): Flagged[] {
  const { same, found, late } = comparison;
  const askable = new Map(same.flatMap(({ known }) => (isAskable(known) ? [[known.id, known]] : [])));
  if (askable.size === 0) return [];
  const doubts = late.flatMap(({ known, twin }) =>
    (twin.known.flag?.candidates ?? []).map((id) => ({ id, into: known.id })),
  );
  // Of equal pending rows nobody knows which was taken: for the other face of the booking, or for what became the booking.
  const shown = new Set([...same, ...found].map(({ known }) => known.id));
  const faces = gone.filter((each) => isPending(each) && each.into !== null && shown.has(each.into));
  const booked = isShownBeside(policy)
    ? found.filter((each) => isBooking(each) && each.rule === 'amount-and-text')
    : [];
  const equal = pairUp(
    { known: [...faces, ...booked.map(({ known }) => known)], rows: [...askable.values()] },
    { known: purchaseOf, row: purchaseOf },
  );
  for (const { known, row } of equal) doubts.push({ id: row.id, into: known.into ?? known.id });
  const flags = doubts.filter(({ id, into }) => askable.delete(id) && !comparison.areToldApart(id, into));
  return flags.map(({ id, into }) => ({
    kind: 'flagged',
    id,
    flag: { reason: 'uncertain-link', candidates: [into] },
  }));
}

function isAskable(known: KnownTransaction): boolean {
  const { into, flag, dismissed } = known;
  return isPending(known) && into === null && flag === null && dismissed !== 'uncertain-link';
}
