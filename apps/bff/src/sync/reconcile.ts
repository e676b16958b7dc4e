import type { Change, Flag } from './change.js';
import { Comparison } from './comparison.js';
import { coverage, dateOf, isAsked, type Window } from './coverage.js';
import { type Evidence, type IdentityPolicy, noEvidence, policyOf } from './identity-policy.js';
import { pairUp, type Open, type Pair } from './pairing.js';
import { settle } from './settle.js';
import { joinSideBySide } from './side-by-side.js';
import type { Comparable } from './transaction-row.js';

/** A transaction of the account that is in the table and not removed, or another face of one. */
export interface KnownTransaction extends Comparable {
  /** Ours, for life. */
  id: string;
  flag: Flag | null;
  /** The transaction of which this is another face. */
  into: string | null;
  /** Transactions that a person has told apart from this one. */
  apartFrom: readonly string[];
  /** The reason of a flag that a person has dismissed. */
  dismissed: Flag['reason'] | null;
}

/** One complete answer: every page was read. */
export interface Answer<R> extends Window {
  rows: readonly R[];
}

/** What is left when all equal rows are paired, and what the comparison has to know of the whole answer. */
export interface Rest<R> extends Open<R> {
  /** Pairs of equal rows of which more may have to be said: what carries a flag, what is pending, other faces. */
  same: Pair<R>[];
  covers: (known: Comparable) => boolean;
  /** Ids that several rows of the answer share; they identify none of them. */
  repeated: ReadonlySet<string>;
}

/** What the comparison goes by besides the rows. */
export interface Terms<R> {
  /** Called for rows that may be new; the same row gets the same id. */
  newId: (row: R) => string;
  policy: IdentityPolicy;
  /** Pending transactions that were removed lately: a booking that comes only now may be theirs. */
  dropped?: readonly KnownTransaction[];
}

export interface Reconciled<R extends Comparable> {
  changes: Change<R>[];
  /** What the comparison teaches of the institution's habits. */
  evidence: Evidence;
}

export const unknownPolicy: IdentityPolicy = policyOf(noEvidence);

/**
 * Compares all live transactions of one account with one complete answer of the bank and says what changed.
 *
 * Multisets are matched, never keys alone: N equal rows in the answer stay N rows. The comparison goes from certain to
 * likely, and whatever has found its counterpart is out of the game: same JSON; same bank id and content; same content; same
 * bank id with enough in common; same reference; pending to booked by amount, time and text; booked to reissued; a booking
 * beside its pending row. What is left of the answer is new. What is left of the known inside the time that the answer covers
 * has vanished: pending rows are removed, booked rows are kept and flagged, since a bank that stops showing a booking has not
 * proven that it never was.
 *
 * Pure and near linear; the order of the rows means nothing.
 */
export function reconcile<R extends Comparable>(
  known: readonly KnownTransaction[],
  answer: Answer<R>,
  terms: Terms<R>,
): Reconciled<R> {
  const open: Open<R> = { known: [...known], rows: [...answer.rows] };
  const same = pairUp(open, { known: ({ fingerprint }) => fingerprint, row: ({ fingerprint }) => fingerprint });
  const dates = answer.rows.map((row) => dateOf(row)?.getTime() ?? Number.POSITIVE_INFINITY);
  const earliest = dates.reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
  const isEmpty = answer.rows.length === 0;
  const isBooked = (each: KnownTransaction) => each.status === 'BOOKED' && each.into === null;
  const covers = coverage(answer, {
    earliest: Number.isFinite(earliest) ? new Date(earliest) : null,
    isEmpty,
    isSuspicious: isEmpty && known.some((each) => isBooked(each) && isAsked(answer, dateOf(each) ?? new Date(0))),
  });
  const { changes, evidence } = reconcileRest({ ...open, same, covers, repeated: repeatedIds(answer.rows) }, terms);
  const idsKept = same.filter(({ row }) => row.bankId !== null).length;
  return { changes, evidence: { ...evidence, idsKept: evidence.idsKept + idsKept } };
}

/**
 * The same, once equal rows are paired. With a `border`, what has found no counterpart and lies so near to it that its
 * counterpart may come later is not settled but handed back.
 */
export function reconcileRest<R extends Comparable>(
  rest: Rest<R>,
  terms: Terms<R>,
  border?: Date,
): Reconciled<R> & { carried: Open<R> } {
  const comparison = new Comparison(rest, terms);
  comparison.compareSurely();
  // Of the same day a pending row that is still shown is nearer than one that is gone.
  const { sideBySide, usualDays } = terms.policy;
  const early = sideBySide === 'habit' && usualDays === 0 ? joinSideBySide(comparison, terms, { sameDay: true }) : [];
  comparison.compareLikely();
  const open = comparison.open;
  const carried: Open<R> = { known: [], rows: [] };
  if (border !== undefined) {
    const isNear = (each: Comparable) => (dateOf(each)?.getTime() ?? 0) > border.getTime() - marginMs;
    carried.known = open.known.filter(isNear);
    carried.rows = open.rows.filter(isNear);
    comparison.open = {
      known: open.known.filter((each) => !isNear(each)),
      rows: open.rows.filter((row) => !isNear(row)),
    };
  }
  const besides = [...early, ...joinSideBySide(comparison, terms, { besides: early })];
  return { changes: settle(comparison, besides, terms), evidence: comparison.evidence, carried };
}

const marginMs = 35 * 86_400_000;

function repeatedIds(rows: readonly Comparable[]): ReadonlySet<string> {
  const once = new Set<string>();
  const twice = new Set<string>();
  for (const { bankId } of rows) {
    if (bankId === null) continue;
    if (once.has(bankId)) twice.add(bankId);
    once.add(bankId);
  }
  return twice;
}
