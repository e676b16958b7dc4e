import type { MatchRule } from './change.js';
import { betterExplained, bookedBefore, claimedIds, type Late, nearest } from './booked-before.js';
import { bookingsOf, isBooking, isOtherId } from './booking-evidence.js';
import { besideDays, type Evidence, isShownBeside, noEvidence } from './identity-policy.js';
import { pairUp, type Open, type Pair, remove } from './pairing.js';
import type { KnownTransaction, Rest, Terms } from './reconcile.js';
import { type Demands, fits, type Resemblance, type Resemblances, resemble } from './resemblance.js';
import { isId, positional, sameId, sameReference } from './same-id.js';
import { shifted } from './shifted.js';
import { holdApart, partnersOf } from './told-apart.js';
import { amountOf, type Comparable, isPending, purchaseOf } from './transaction-row.js';

/** A row that was recognised, how, and how surely (0 to 1). */
export interface Found<R> extends Pair<R> {
  rule: MatchRule;
  confidence: number;
}

/** For a booking of which the pending row is gone. */
export const toBooked = { soleMin: 0.3, bestMin: 0.55 };
const toReissued = { daysBefore: 5, daysAfter: 5, soleMin: 0.4, bestMin: 0.6 };
/** Where it is not known that the sign flips, more has to speak for it. */
const toFlipped = { soleMin: 0.75, bestMin: 0.85 };
/** Fewer bookings than this may be gone for reasons of their own. */
const remintedMin = 5;

/** One comparison of known transactions with rows that have no equal: from certain to likely. */
export class Comparison<R extends Comparable> {
  open: Open<R>;
  readonly same: readonly Pair<R>[];
  readonly covers: (known: Comparable) => boolean;
  readonly repeated: ReadonlySet<string>;
  readonly found: Found<R>[] = [];
  readonly late: Late<R>[] = [];
  /** Rows that could have come from something known, with its ids. */
  readonly uncertain = new Map<R, string[]>();
  evidence: Evidence = noEvidence;
  private readonly partners: ReadonlyMap<string, ReadonlySet<string>>;
  private held: KnownTransaction[] = [];
  private areIdsHeld = false;

  constructor(
    rest: Rest<R>,
    private readonly terms: Terms<R>,
  ) {
    this.open = { known: [...rest.known], rows: rest.rows.toSorted(inOrder) };
    this.same = rest.same;
    this.covers = rest.covers;
    this.repeated = rest.repeated;
    const { dropped = [] } = terms;
    this.partners = partnersOf([...rest.known, ...rest.same.map(({ known }) => known), ...dropped]);
  }

  /** What ids, equal content and references tell. */
  compareSurely(): void {
    const { open } = this;
    const trusted = (id: string | null): id is string => this.isTrusted(id);
    const identity = (row: Comparable) => (trusted(row.bankId) ? `${row.bankId} ${content(row)}` : undefined);
    this.take(pairUp(open, { known: identity, row: identity }), 'bank-id', 1);
    this.found.push(...shifted(open));
    const moved = pairUp(open, { known: content, row: content });
    this.take(moved, 'same-content', 1);
    const wandering = moved.filter(({ known: { bankId }, row }) => bankId !== null && row.bankId !== null);
    this.learn({ idsChanged: wandering.length });
    this.hold();
    if (this.terms.policy.ids !== 'unstable') {
      const lasts = (id: string) => wandering.length === 0 && !positional.test(id);
      const { found, doubted, reused } = sameId(open, { trusted, lasts, isProof: this.terms.policy.ids === 'stable' });
      this.found.push(...found);
      this.learn({ idsKept: found.length, idsReused: reused, bookedSameId: found.filter(isBooking).length });
      this.learn(bookingsOf(found));
      this.doubt(doubted);
    }
    const referred = sameReference(open, this.covers);
    this.found.push(...referred);
    this.learn({ ...bookingsOf(referred), bookedOtherId: referred.filter(isOtherId).length });
  }

  /** What amount, time and text make likely. */
  compareLikely(): void {
    const { ids, bookingIds, sideBySide } = this.terms.policy;
    // Where ids outlive the booking, another id is another transaction.
    this.areIdsHeld = ids !== 'unstable' && bookingIds === 'kept' && !this.areReminted();
    if (sideBySide === 'habit') this.takeBookedBefore();
    if (sideBySide === 'unknown') this.takeBookedBefore((late) => nearest(late, this.open));
    this.bookings();
    this.reissues();
    this.open.known.push(...this.held);
    this.held = [];
  }

  /** Whether a transaction that a person has told apart from this one has not been found yet: a row could be that one. */
  awaits({ id }: KnownTransaction): boolean {
    const partners = this.partners.get(id);
    return partners !== undefined && this.open.known.some((each) => partners.has(each.id));
  }

  /** Whether a person has told the two apart. */
  areToldApart(id: string, other: string): boolean {
    return this.partners.get(id)?.has(other) ?? false;
  }

  /** What a person has told apart becomes only what it was, a booking or a pending row, and is out of every other rule. */
  private hold(): void {
    const apart: Open<R> = { known: holdApart(this.open, this.partners), rows: this.open.rows };
    for (const status of ['BOOKED', 'PENDING'] as const) {
      const is = (each: Comparable) => each.status === status;
      const { links, uncertain } = resemble(apart, { ...toReissued, ...this.numbers(), known: is, row: is });
      for (const each of links) this.found.push({ ...each, rule: 'reissued' });
      this.doubt(uncertain);
    }
    this.open.rows = apart.rows;
    this.held = apart.known;
  }

  /** Whether an id may identify a row of this answer. */
  private isTrusted(id: string | null): id is string {
    return id !== null && isId(id) && !this.repeated.has(id);
  }

  /** Whether the bank has given everything new ids at once, as at a re-consent: bookings do not go away in such numbers. */
  private areReminted(): boolean {
    const gone = this.open.known.filter(
      (each) => each.status === 'BOOKED' && each.into === null && this.isTrusted(each.bankId) && this.covers(each),
    );
    return gone.length >= remintedMin;
  }

  /** The pending rows of this answer: where a booking is shown beside its pending row, it is sooner theirs. */
  private pendingByAmount(): Map<string, Comparable[]> {
    const recognised = [...this.same, ...this.found].flatMap(({ known, row }) => (known.into === null ? [row] : []));
    const pending = [...recognised, ...this.open.rows].filter(({ status }) => status === 'PENDING');
    return Map.groupBy<string, Comparable>(pending, amountOf);
  }

  /** Pending transactions that are gone and may be what a booking is that comes only now. */
  gonePending(): KnownTransaction[] {
    // Where bookings are shown beside pending rows, one that is shown already is likelier than one that comes now.
    const claimed = isShownBeside(this.terms.policy) ? claimedIds(this.same) : new Set<string>();
    return this.open.known.filter((each) => {
      const isGone = isPending(each) && each.into === null && this.covers(each);
      const isHeld = this.areIdsHeld && this.isTrusted(each.bankId) && !positional.test(each.bankId);
      return isGone && !isHeld && !claimed.has(each.id) && !this.awaits(each);
    });
  }

  /** What became of pending rows that are gone. */
  private bookings(): void {
    const { signs, texts, daysBefore, daysAfter, usualDays } = this.terms.policy;
    const gone = new Set<Comparable>(this.gonePending());
    const isOpen = (each: KnownTransaction) => gone.has(each);
    const days = { daysBefore, daysAfter, usualDays };
    const shown = isShownBeside(this.terms.policy) ? this.pendingByAmount() : new Map<string, Comparable[]>();
    const isAlone = (row: Comparable) => !shown.get(amountOf(row))?.some((pending) => fits(pending, row, days));
    const isBooked = (row: Comparable) => row.status === 'BOOKED' && isAlone(row);
    const demands = { ...days, sameText: texts === 'kept', known: isOpen, row: isBooked };
    if (signs === 'flipped') {
      const flipped = this.link({ ...toBooked, ...demands, flipped: true }, 'sign-flipped');
      this.learn({ signsFlipped: flipped.length, bookedOtherId: flipped.filter(isOtherId).length });
      this.learn(bookingsOf(flipped));
    }
    this.learnBooked(this.link({ ...toBooked, ...demands }, 'amount-and-text'));
    if (signs !== 'unknown') return;
    // Not believed before it is a habit, but remembered and told.
    const { links: flips } = resemble(
      { known: [...this.open.known], rows: [...this.open.rows] },
      { ...toFlipped, ...this.numbers(), ...demands, daysBefore: Math.min(3, daysBefore), flipped: true },
    );
    this.learn({ signsFlipped: flips.length });
    this.doubt(new Map(flips.map(({ known, row }) => [row, [known.id]])));
  }

  /** Takes bookings that were found to be those of pending transactions which are gone. */
  takeBooked(pairs: readonly Resemblance<R>[]): void {
    for (const each of pairs) this.found.push({ ...each, rule: 'amount-and-text' });
    const taken = new Set(pairs.map(({ row }) => row));
    this.open.rows = this.open.rows.filter((row) => !taken.has(row));
    remove(this.open, pairs);
    this.learnBooked(pairs);
  }

  private learnBooked(pairs: readonly Pair<R>[]): void {
    this.learn({ signsKept: pairs.length, bookedOtherId: pairs.filter(isOtherId).length });
    this.learn(bookingsOf(pairs));
  }

  /** Faces and pending rows that read otherwise, and booked rows that went while one like them came. */
  private reissues(): void {
    const isFace = (each: KnownTransaction) => each.into !== null && this.covers(each);
    const isOwn = (each: KnownTransaction) => each.into === null && this.covers(each);
    const isBooked = ({ status }: Comparable) => status === 'BOOKED';
    // A row that moved by days may have left the time that the answer covers.
    const isNear = (each: KnownTransaction) => this.covers(each) || this.covers({ ...each, ...later(each, 5) });
    const sameDay = { ...toReissued, daysBefore: 0, daysAfter: 0 };
    this.link({ ...sameDay, known: (each) => isFace(each) && isPending(each), row: isPending }, 'reissued');
    this.link({ ...sameDay, known: (each) => isFace(each) && isBooked(each), row: isBooked }, 'reissued');
    this.link({ ...sameDay, known: (each) => isOwn(each) && isPending(each), row: isPending }, 'reissued');
    this.link({ ...toReissued, known: (each) => isBooked(each) && isNear(each), row: isBooked }, 'reissued');
  }

  /** Pending transactions that are gone, whose bookings have been shown beside them and stay what they are. */
  takeBookedBefore(choose: (late: readonly Late<R>[]) => readonly Late<R>[] = (late) => late): void {
    const taken = new Set(this.late.map(({ twin }) => twin));
    const unclaimed = this.same.filter((pair) => !taken.has(pair));
    const { policy, dropped } = this.terms;
    const gone = this.open.known.filter(this.covers);
    const isBetter = betterExplained(this.open);
    const claims = bookedBefore(gone, unclaimed, { within: besideDays(policy), dropped });
    const late = choose(claims.filter((each) => !isBetter(each)));
    this.late.push(...late);
    remove(this.open, late);
    this.learn({ sideBySide: late.length });
  }

  private link(demands: Demands, rule: MatchRule): Resemblances<R>['links'] {
    const { links, uncertain } = resemble(this.open, { ...this.numbers(), ...demands });
    for (const each of links) this.found.push({ ...each, rule });
    this.doubt(uncertain);
    return links;
  }

  private numbers(): Pick<Demands, 'numbersVary'> {
    return { numbersVary: this.terms.policy.numbers === 'changing' };
  }

  private take(pairs: readonly Pair<R>[], rule: MatchRule, confidence: number): void {
    for (const pair of pairs) this.found.push({ ...pair, rule, confidence });
  }

  doubt(candidates: ReadonlyMap<R, readonly string[]>): void {
    for (const [row, ids] of candidates) {
      this.uncertain.set(row, [...new Set([...(this.uncertain.get(row) ?? []), ...ids])]);
    }
  }

  learn(more: Partial<Evidence>): void {
    const sum = { ...this.evidence };
    for (const [name, count] of Object.entries(more) as [keyof Evidence, number][])
      sum[name] = (sum[name] ?? 0) + count;
    this.evidence = sum;
  }
}

function content(row: Comparable): string {
  return `${row.status} ${purchaseOf(row)}`;
}

function later({ bookedAt, valueAt }: Comparable, days: number): Pick<Comparable, 'bookedAt' | 'valueAt'> {
  const move = (at: Date | null) => at && new Date(at.getTime() + days * 86_400_000);
  return { bookedAt: move(bookedAt), valueAt: move(valueAt) };
}

function inOrder(a: Comparable, b: Comparable): number {
  const days = (a.bookedAt ?? a.valueAt ?? epoch).getTime() - (b.bookedAt ?? b.valueAt ?? epoch).getTime();
  return days || (a.fingerprint < b.fingerprint ? -1 : a.fingerprint > b.fingerprint ? 1 : 0);
}

const epoch = new Date(0);
