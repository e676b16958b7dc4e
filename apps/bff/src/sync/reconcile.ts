import type { Change, Flag, MatchRule } from './change.js';
import { coverage, dateOf, isAsked, type Window } from './coverage.js';
import { likeness, type Trigrams } from './likeness.js';
import { pairUp, remove, type Open, type Pair } from './pairing.js';
import { resemble } from './resemblance.js';
import type { Comparable } from './transaction-row.js';

/** A transaction of the account that is in the table and not removed, or another face of one. */
export interface KnownTransaction extends Comparable {
  /** Ours, for life. */
  id: string;
  flag: Flag | null;
  /** The transaction of which this is another face. */
  into: string | null;
}

/** One complete answer: every page was read. */
export interface Answer<R> extends Window {
  rows: readonly R[];
}

/** What is left when all equal rows are paired, and what the comparison has to know of the whole answer. */
export interface Rest<R> extends Open<R> {
  /** Pairs of equal rows of which more may have to be said: what carries a flag, and what is pending. */
  same: Pair<R>[];
  covers: (known: Comparable) => boolean;
  /** Ids that several rows of the answer share; they identify none of them. */
  repeated: ReadonlySet<string>;
}

/**
 * Compares all live transactions of one account with one complete answer of the bank and says what changed.
 *
 * Multisets are matched, never keys alone: N equal rows in the answer stay N rows. The comparison goes from certain to
 * likely, and whatever has found its counterpart is out of the game: same JSON; same bank id and content; same content; same
 * bank id with enough in common; pending to booked by amount, time and text; booked to reissued. What is left of the answer
 * is new. What is left of the known inside the time that the answer covers has vanished: pending rows are removed, booked
 * rows are kept and flagged, since a bank that stops showing a booking has not proven that it never was.
 *
 * Pure and near linear: `newId` is called once for every added row, in an order that depends on the rows alone.
 */
export function reconcile<R extends Comparable>(
  known: readonly KnownTransaction[],
  answer: Answer<R>,
  newId: (row: R) => string,
): Change<R>[] {
  const open: Open<R> = { known: [...known], rows: [...answer.rows] };
  const same = pairUp(open, { known: fingerprint, row: fingerprint });
  const dates = answer.rows.map((row) => dateOf(row)?.getTime() ?? Number.POSITIVE_INFINITY);
  const earliest = dates.reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
  const isEmpty = answer.rows.length === 0;
  const isBooked = (each: KnownTransaction) => each.status === 'BOOKED' && each.into === null;
  const covers = coverage(answer, {
    earliest: Number.isFinite(earliest) ? new Date(earliest) : null,
    isEmpty,
    isSuspicious: isEmpty && known.some((each) => isBooked(each) && isAsked(answer, dateOf(each) ?? new Date(0))),
  });
  return reconcileRest({ ...open, same, covers, repeated: repeatedIds(answer.rows) }, newId);
}

/** The same, once equal rows are paired. */
export function reconcileRest<R extends Comparable>(rest: Rest<R>, newId: (row: R) => string): Change<R>[] {
  const { covers, repeated } = rest;
  const open: Open<R> = { known: [...rest.known], rows: rest.rows.toSorted(inOrder) };
  const changes: Change<R>[] = cleared(rest.same);
  const trusted = (id: string | null): id is string => id !== null && isId(id) && !repeated.has(id);
  const identity = (row: Comparable) => (trusted(row.bankId) ? `${row.bankId} ${content(row)}` : undefined);
  changes.push(...modified(pairUp<R>(open, { known: identity, row: identity }), 'bank-id', 1));
  const moved = pairUp(open, { known: content, row: content });
  changes.push(...modified(moved, 'same-content', 1));
  const wandering = moved.some(({ known: { bankId }, row }) => bankId !== null && row.bankId !== null);
  changes.push(...sameId(open, trusted, (id) => !wandering && !positional.test(id)));
  const booked = resemble(open, {
    known: (each) => each.status === 'PENDING' && each.into === null && covers(each),
    row: () => true,
    daysBefore: 14,
    daysAfter: 21,
    soleMin: 0.3,
    bestMin: 0.55,
  });
  const reissued = resemble(open, {
    known: (each) => each.status === 'BOOKED' && each.into === null && covers(each),
    row: (row) => row.status === 'BOOKED',
    daysBefore: 5,
    daysAfter: 5,
    soleMin: 0.4,
    bestMin: 0.6,
  });
  for (const { confidence, ...pair } of booked.links) changes.push(...modified([pair], 'amount-and-text', confidence));
  for (const { confidence, ...pair } of reissued.links) changes.push(...modified([pair], 'reissued', confidence));
  changes.push(...vanished<R>(open.known.filter(covers)));
  changes.push(...added(open.rows, [booked.uncertain, reissued.uncertain], newId));
  return changes;
}

function fingerprint(row: Comparable): string {
  return row.fingerprint;
}

/** Everything that identifies a transaction to a person; the bank's id is left out. */
function content(row: Comparable): string {
  const { status, bookedAt, valueAt, amountMinor, currency, description } = row;
  return `${status} ${bookedAt?.getTime()} ${valueAt?.getTime()} ${amountMinor} ${currency} ${description}`;
}

function inOrder(a: Comparable, b: Comparable): number {
  const days = (dateOf(a)?.getTime() ?? 0) - (dateOf(b)?.getTime() ?? 0);
  return days || (a.fingerprint < b.fingerprint ? -1 : a.fingerprint > b.fingerprint ? 1 : 0);
}

/** What banks print where they have no id to give. */
const placeholders = new Set(['NOTPROVIDED', 'NOT PROVIDED', 'N/A', 'NA', 'NONE', 'NULL', 'UNKNOWN', '0', '-']);

function isId(id: string): boolean {
  return !placeholders.has(id.toUpperCase());
}

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

/** Numbers of lines, such as `7` or `20240301.2`: another transaction has them tomorrow. */
const positional = /^\d{1,5}$|[.:_-]\d{1,4}$/;

/**
 * Ids are reused and positional, so an id counts only if enough else agrees. `lasts` tells the ids that may hold a transaction
 * together while its amount changes: not those that look like line numbers, and none where this very answer shows a known
 * transaction under another id.
 */
function sameId<R extends Comparable>(
  open: Open<R>,
  trusted: (id: string | null) => id is string,
  lasts: (id: string) => boolean,
): Change<R>[] {
  const texts: Trigrams = new Map();
  const byId = new Map<string, KnownTransaction | undefined>();
  for (const each of open.known) {
    if (!trusted(each.bankId)) continue;
    byId.set(each.bankId, byId.has(each.bankId) ? undefined : each);
  }
  const changes: Change<R>[] = [];
  const pairs: Pair<R>[] = [];
  open.rows = open.rows.filter((row) => {
    const known = row.bankId === null ? undefined : byId.get(row.bankId);
    const confidence = known && agreement(known, row, { texts, lasts: lasts(row.bankId ?? '') });
    if (!known || confidence === undefined) return true;
    pairs.push({ known, row });
    changes.push(...modified([{ known, row }], 'bank-id', confidence));
    return false;
  });
  remove(open, pairs);
  return changes;
}

const dayMs = 86_400_000;

/** Two of amount, day and text for booked rows; while pending, the amount or the text. */
function agreement(
  known: KnownTransaction,
  row: Comparable,
  { texts, lasts }: { texts: Trigrams; lasts: boolean },
): number | undefined {
  const sameAmount =
    known.amountMinor !== null && known.amountMinor === row.amountMinor && known.currency === row.currency;
  if (!sameAmount && !lasts) return undefined;
  const [one, other] = [dateOf(known)?.getTime(), dateOf(row)?.getTime()];
  const days = one === undefined || other === undefined ? undefined : Math.abs(one - other) / dayMs;
  const text = likeness(known.description, row.description, texts) ?? 0;
  if (known.status === 'BOOKED' && row.status === 'BOOKED') {
    const agreeing = [sameAmount, days !== undefined && days < 1, text >= 0.6].filter(Boolean).length;
    return agreeing >= 2 ? 0.9 + agreeing / 30 : undefined;
  }
  if (days !== undefined && days > 30) return undefined;
  if (sameAmount) return text >= 0.5 ? 0.99 : 0.95;
  return text >= 0.6 ? 0.93 : undefined;
}

function modified<R extends Comparable>(pairs: readonly Pair<R>[], rule: MatchRule, confidence: number): Change<R>[] {
  return pairs.map(({ known, row }): Change<R> => {
    if (known.into !== null) return { kind: 'joined', id: known.id, into: known.into, row, rule };
    const kind = known.status === 'PENDING' && row.status === 'BOOKED' ? 'linked' : 'modified';
    return { kind, id: known.id, row, rule, confidence };
  });
}

/** An unchanged booked row that is shown again answers the flag that it had vanished. */
function cleared<R extends Comparable>(pairs: readonly Pair<R>[]): Change<R>[] {
  return pairs
    .filter(({ known }) => known.flag?.reason === 'booked-vanished')
    .map(({ known }): Change<R> => ({ kind: 'cleared', id: known.id }));
}

function vanished<R extends Comparable>(known: readonly KnownTransaction[]): Change<R>[] {
  return known.flatMap(({ id, status, flag, into }): Change<R>[] => {
    if (status === 'PENDING') return [{ kind: 'removed', id, reason: 'pending-vanished' }];
    if (into !== null || flag?.reason === 'booked-vanished') return [];
    return [{ kind: 'flagged', id, flag: { reason: 'booked-vanished', candidates: [] } }];
  });
}

function added<R extends Comparable>(
  rows: readonly R[],
  uncertain: readonly Map<R, string[]>[],
  newId: (row: R) => string,
): Change<R>[] {
  return rows.map((row): Change<R> => {
    const candidates = uncertain.flatMap((each) => each.get(row) ?? []);
    const flag: Flag | undefined = candidates.length > 0 ? { reason: 'uncertain-link', candidates } : undefined;
    return { kind: 'added', id: newId(row), row, ...(flag ? { flag } : {}) };
  });
}
