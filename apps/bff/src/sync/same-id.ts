import { dateOf } from './coverage.js';
import type { Found } from './comparison.js';
import { areApart, likeness, type Trigrams } from './likeness.js';
import { remove, type Open } from './pairing.js';
import type { KnownTransaction } from './reconcile.js';
import type { Comparable } from './transaction-row.js';

/** What banks print where they have no id to give. */
const placeholders = new Set(['NOTPROVIDED', 'NOT PROVIDED', 'N/A', 'NA', 'NONE', 'NULL', 'UNKNOWN', '0', '-']);

export function isId(id: string): boolean {
  return !placeholders.has(id.toUpperCase());
}

/** Numbers of lines, such as `7` or `20240301.2`: another transaction has them tomorrow. */
export const positional = /^\d{1,5}$|[.:_-]\d{1,4}$/;

interface Trust {
  /** Whether an id of this answer may identify a row. */
  trusted: (id: string | null) => id is string;
  /**
   * Whether an id may hold a transaction together while its amount changes: not those that look like line numbers, and none
   * where this very answer shows a known transaction under another id.
   */
  lasts: (id: string) => boolean;
  /** This institution's ids have proven to be stable: one is enough. */
  isProof: boolean;
}

/**
 * Ids are reused and positional, so an id counts only if enough else agrees; where it does not, the row is in doubt. A line
 * number counts on its day alone: on another one it is another line, of the same transaction or not.
 */
export function sameId<R extends Comparable>(
  open: Open<R>,
  { trusted, lasts, isProof }: Trust,
): { found: Found<R>[]; doubted: Map<R, string[]>; reused: number } {
  const texts: Trigrams = new Map();
  const byId = new Map<string, KnownTransaction | undefined>();
  for (const each of open.known) {
    if (!trusted(each.bankId)) continue;
    byId.set(each.bankId, byId.has(each.bankId) ? undefined : each);
  }
  const found: Found<R>[] = [];
  const doubted = new Map<R, string[]>();
  let reused = 0;
  open.rows = open.rows.filter((row) => {
    const known = row.bankId === null ? undefined : byId.get(row.bankId);
    if (!known || (known.into !== null && known.status !== row.status)) return true;
    const id = row.bankId ?? '';
    const isLasting = lasts(id);
    const isMoved = positional.test(id) && (daysBetween(known, row) ?? 0) >= 1;
    const confidence = isMoved
      ? undefined
      : (agreement(known, row, { texts, lasts: isLasting }) ?? (isProof && isLasting ? proof(known, row) : undefined));
    if (confidence !== undefined) found.push({ known, row, rule: 'bank-id', confidence });
    else {
      if (!isMoved) reused += 1;
      if (!positional.test(id) || isSameAmount(known, row)) doubted.set(row, [known.id]);
    }
    return confidence === undefined;
  });
  remove(open, found);
  return { found, doubted, reused };
}

const dayMs = 86_400_000;

function daysBetween(one: Comparable, other: Comparable): number | undefined {
  const [from, to] = [dateOf(one)?.getTime(), dateOf(other)?.getTime()];
  return from === undefined || to === undefined ? undefined : Math.abs(to - from) / dayMs;
}

function isSameAmount(one: Comparable, other: Comparable): boolean {
  return one.amountMinor !== null && one.amountMinor === other.amountMinor && one.currency === other.currency;
}

/** Two of amount, day and text for booked rows; while pending, the amount or the text. */
export function agreement(
  known: Comparable,
  row: Comparable,
  { texts, lasts }: { texts: Trigrams; lasts: boolean },
): number | undefined {
  const sameAmount = isSameAmount(known, row);
  if (!lasts && (!sameAmount || areApart(known.description, row.description))) return undefined;
  const days = daysBetween(known, row);
  const text = likeness(known.description, row.description, texts) ?? 0;
  if (known.status === 'BOOKED' && row.status === 'BOOKED') {
    const agreeing = [sameAmount, days !== undefined && days < 1, text >= 0.6].filter(Boolean).length;
    return agreeing >= 2 ? 0.9 + agreeing / 30 : undefined;
  }
  if (days !== undefined && days > 30) return undefined;
  if (sameAmount) return text >= 0.5 ? 0.99 : 0.95;
  return text >= 0.6 ? 0.93 : undefined;
}

/** A stable id holds whatever changed, but not over months: then it has been given away again. */
function proof(known: KnownTransaction, row: Comparable): number | undefined {
  return (daysBetween(known, row) ?? 0) <= 45 ? 0.95 : undefined;
}

/** Long enough and with enough digits to be somebody's number of this one payment. */
const telling = /^(?=(?:.*\d){5}).{8,}$/;

/**
 * Payments keep the reference that payer, payee or scheme gave them when the bank renames everything else. It counts where
 * it is telling and only one transaction and one row have it; standing orders repeat theirs, so the time has to fit.
 */
export function sameReference<R extends Comparable>(open: Open<R>, covers: (known: Comparable) => boolean): Found<R>[] {
  const isTelling = ({ reference }: Comparable) => reference !== null && telling.test(reference);
  const gone = open.known.filter((each) => each.into === null && covers(each) && isTelling(each));
  if (gone.length === 0) return [];
  const known = Map.groupBy(gone, ({ reference }) => reference);
  const rows = Map.groupBy(open.rows.filter(isTelling), ({ reference }) => reference);
  const texts: Trigrams = new Map();
  const found: Found<R>[] = [];
  for (const [reference, [one, ...others]] of known) {
    const [row, ...more] = rows.get(reference) ?? [];
    if (!one || !row || others.length > 0 || more.length > 0 || one.currency !== row.currency) continue;
    const days = daysBetween(one, row) ?? 0;
    const text = likeness(one.description, row.description, texts) ?? 0;
    const fits = one.status === 'PENDING' ? days <= 30 : row.status === 'BOOKED' && days <= 5;
    if (!fits || !(isSameAmount(one, row) || (one.status === 'PENDING' && text >= 0.5))) continue;
    found.push({ known: one, row, rule: 'reference', confidence: isSameAmount(one, row) ? 0.98 : 0.92 });
  }
  const taken = new Set(found.map(({ row }) => row));
  open.rows = open.rows.filter((row) => !taken.has(row));
  remove(open, found);
  return found;
}
