import type { Change, Flag, MatchRule } from './change.js';
import { likeness, type Trigrams } from './likeness.js';
import { pairUp, remove, type Open, type Pair } from './pairing.js';
import { dateOf, resemble } from './resemblance.js';
import type { TransactionRow } from './transaction-row.js';

/** A transaction of the account that is in the table and not removed. */
export interface KnownTransaction extends Omit<TransactionRow, 'wire' | 'amount'> {
  /** Ours, for life. */
  id: string;
  flag: Flag | null;
}

/** One complete answer: every page was read. */
export interface Answer {
  rows: readonly TransactionRow[];
  /** What was asked for, both ends included; null is open. */
  from: Date | null;
  before: Date | null;
  /**
   * From when on the answer is sure to hold everything. Banks silently shorten long histories, so without it the answer is
   * taken to reach back to its own earliest row.
   */
  completeFrom?: Date;
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
export function reconcile(
  known: readonly KnownTransaction[],
  answer: Answer,
  newId: (row: TransactionRow) => string,
): Change[] {
  const covered = coverage(known, answer);
  const open: Open = { known: [...known], rows: [...answer.rows] };
  const changes: Change[] = cleared(pairUp(open, { known: fingerprint, row: fingerprint }));
  open.rows.sort(inOrder);
  const trusted = trustedIds(answer.rows);
  const identity = (row: Comparable) => (trusted.has(row.bankId) ? `${row.bankId} ${content(row)}` : undefined);
  changes.push(...modified(pairUp(open, { known: identity, row: identity }), 'bank-id', 1));
  const moved = pairUp(open, { known: content, row: content });
  changes.push(...modified(moved, 'same-content', 1));
  const wandering = moved.some(({ known: { bankId }, row }) => bankId !== null && row.bankId !== null);
  changes.push(...sameId(open, trusted, (id) => !wandering && !positional.test(id)));
  const booked = resemble(open, {
    known: (each) => each.status === 'PENDING' && covered(each),
    row: () => true,
    daysBefore: 14,
    daysAfter: 21,
    soleMin: 0.3,
    bestMin: 0.55,
  });
  const reissued = resemble(open, {
    known: (each) => each.status === 'BOOKED' && covered(each),
    row: (row) => row.status === 'BOOKED',
    daysBefore: 5,
    daysAfter: 5,
    soleMin: 0.4,
    bestMin: 0.6,
  });
  for (const { confidence, ...pair } of booked.links) changes.push(...modified([pair], 'amount-and-text', confidence));
  for (const { confidence, ...pair } of reissued.links) changes.push(...modified([pair], 'reissued', confidence));
  changes.push(...vanished(open.known.filter(covered)));
  changes.push(...added(open.rows, [booked.uncertain, reissued.uncertain], newId));
  return changes;
}

type Comparable = Omit<TransactionRow, 'wire' | 'amount'>;

function fingerprint(row: Comparable): string {
  return row.fingerprint;
}

/** Everything that identifies a transaction to a person; the bank's id is left out. */
function content(row: Comparable): string {
  const { status, bookedAt, valueAt, amountMinor, currency, description } = row;
  return `${status} ${bookedAt?.getTime()} ${valueAt?.getTime()} ${amountMinor} ${currency} ${description}`;
}

function inOrder(a: TransactionRow, b: TransactionRow): number {
  const days = (dateOf(a)?.getTime() ?? 0) - (dateOf(b)?.getTime() ?? 0);
  return days || (a.fingerprint < b.fingerprint ? -1 : a.fingerprint > b.fingerprint ? 1 : 0);
}

/** What banks print where they have no id to give. */
const placeholders = new Set(['NOTPROVIDED', 'NOT PROVIDED', 'N/A', 'NA', 'NONE', 'NULL', 'UNKNOWN', '0', '-']);

/** The ids that occur once in the answer; one that several rows share identifies none of them. */
function trustedIds(rows: readonly TransactionRow[]): ReadonlySet<string | null> {
  const once = new Set<string | null>();
  const twice = new Set<string>();
  for (const { bankId } of rows) {
    if (bankId === null || placeholders.has(bankId.toUpperCase())) continue;
    if (once.has(bankId)) twice.add(bankId);
    once.add(bankId);
  }
  for (const id of twice) once.delete(id);
  return once;
}

/** Numbers of lines, such as `7` or `20240301.2`: another transaction has them tomorrow. */
const positional = /^\d{1,5}$|[.:_-]\d{1,4}$/;

/**
 * Ids are reused and positional, so an id counts only if enough else agrees. `lasts` tells the ids that may hold a transaction
 * together while its amount changes: not those that look like line numbers, and none where this very answer shows a known
 * transaction under another id.
 */
function sameId(open: Open, trusted: ReadonlySet<string | null>, lasts: (id: string) => boolean): Change[] {
  const texts: Trigrams = new Map();
  const byId = new Map<string, KnownTransaction | undefined>();
  for (const each of open.known) {
    if (each.bankId === null || !trusted.has(each.bankId)) continue;
    byId.set(each.bankId, byId.has(each.bankId) ? undefined : each);
  }
  const changes: Change[] = [];
  const pairs: Pair[] = [];
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
  row: TransactionRow,
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

/** Whether a known transaction would be in the answer if the bank still had it. */
function coverage(known: readonly KnownTransaction[], answer: Answer): (each: KnownTransaction) => boolean {
  const asked = (at: Date) => (!answer.from || at >= answer.from) && (!answer.before || at <= answer.before);
  if (answer.rows.length === 0) {
    // Nothing at all where bookings are known is a fault of the bank far more often than the truth: it proves nothing.
    const suspicious = known.some((each) => each.status === 'BOOKED' && asked(dateOf(each) ?? new Date(0)));
    if (suspicious) return () => false;
  }
  const dates = answer.rows.map((row) => dateOf(row)?.getTime() ?? Number.POSITIVE_INFINITY);
  const earliest = dates.reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
  const start = answer.completeFrom?.getTime() ?? (answer.rows.length === 0 ? Number.NEGATIVE_INFINITY : earliest);
  return (each) => {
    const at = dateOf(each);
    // However short its history, a bank shows what is pending. A pending row without a date belongs to the present, which an
    // answer that is open at its end includes.
    if (!at) return each.status === 'PENDING' && answer.before === null;
    return asked(at) && (each.status === 'PENDING' || at.getTime() >= start);
  };
}

function modified(pairs: readonly Pair[], rule: MatchRule, confidence: number): Change[] {
  return pairs.map(({ known, row }): Change => {
    const kind = known.status === 'PENDING' && row.status === 'BOOKED' ? 'linked' : 'modified';
    return { kind, id: known.id, row, rule, confidence };
  });
}

/** An unchanged booked row that is shown again answers the flag that it had vanished. */
function cleared(pairs: readonly Pair[]): Change[] {
  return pairs
    .filter(({ known }) => known.flag?.reason === 'booked-vanished')
    .map(({ known }): Change => ({ kind: 'cleared', id: known.id }));
}

function vanished(known: readonly KnownTransaction[]): Change[] {
  return known.flatMap(({ id, status, flag }): Change[] => {
    if (status === 'PENDING') return [{ kind: 'removed', id, reason: 'pending-vanished' }];
    if (flag?.reason === 'booked-vanished') return [];
    return [{ kind: 'flagged', id, flag: { reason: 'booked-vanished', candidates: [] } }];
  });
}

function added(
  rows: readonly TransactionRow[],
  uncertain: readonly Map<TransactionRow, string[]>[],
  newId: (row: TransactionRow) => string,
): Change[] {
  return rows.map((row): Change => {
    const candidates = uncertain.flatMap((each) => each.get(row) ?? []);
    const flag: Flag | undefined = candidates.length > 0 ? { reason: 'uncertain-link', candidates } : undefined;
    return { kind: 'added', id: newId(row), row, ...(flag ? { flag } : {}) };
  });
}
