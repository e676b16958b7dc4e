import { likeness, numberedLikeness, type Trigrams } from './likeness.js';
import { remove, type Open, type Pair } from './pairing.js';
import type { KnownTransaction } from './reconcile.js';
import type { Comparable } from './transaction-row.js';
import { dateOf } from './coverage.js';
import {
  type Bunch,
  type Candidate,
  choicesOf,
  confidenceOf,
  type KnownBunch,
  pointedAt,
  type TextDemands,
} from './text-choices.js';

/** What may be linked although only the amount is the same for sure. */
export interface Demands extends TextDemands {
  known: (known: KnownTransaction) => boolean;
  row: (row: Comparable) => boolean;
  /** Whole days by which the row may lie before and after what is known. */
  daysBefore: number;
  daysAfter: number;
  /** By how many days it nearly always lies after; null where that varies, so that no day tells. The same day unless given. */
  usualDays?: number | null;
  /** Amounts are compared with the opposite sign. */
  flipped?: boolean;
}

export interface Resemblance<R> extends Pair<R> {
  confidence: number;
}

export interface Resemblances<R> {
  links: Resemblance<R>[];
  /** Rows that could have come from something known, with its ids; not sure enough to link. */
  uncertain: Map<R, string[]>;
}

/** Less likeness than this is no reason to ask a person. */
const askMin = 0.3;
/** Of more pairs of texts under one amount than this, only those are compared that a text or a number points at. */
const pairsMax = 4096;
const candidatesMax = 5;
const dayMs = 86_400_000;

/**
 * Links what is known to rows of the same amount and currency whose date fits and whose text is like enough. Texts are compared,
 * not rows: the daily coffee is one text with many dates, and once it is clear which text became which, the dates decide in
 * their order. A link is made only where the choice is clear on both sides; everything else is reported, not guessed.
 */
export function resemble<R extends Comparable>(open: Open<R>, demands: Demands): Resemblances<R> {
  const links: Resemblance<R>[] = [];
  const uncertain = new Map<R, string[]>();
  const texts: Trigrams = new Map();
  for (const group of byAmount(open, demands)) {
    const known = bunches(group.known);
    const rows = bunches(group.rows);
    const candidates = candidatesOf({ known, rows }, demands, texts);
    const choices = choicesOf(candidates);
    const taken = new Set<object>();
    for (const candidate of candidates) {
      const confidence = confidenceOf(candidate, { choices, taken }, demands);
      if (confidence === undefined) continue;
      const pairs = inTime(candidate, demands);
      if (pairs.length === 0) continue;
      taken.add(candidate.known).add(candidate.rows);
      for (const pair of pairs) links.push({ ...pair, confidence });
      leave(candidate, pairs);
    }
    report(candidates, uncertain);
  }
  const taken = new Set(links.map(({ row }) => row));
  open.rows = open.rows.filter((row) => !taken.has(row));
  remove(open, links);
  return { links, uncertain };
}

function* byAmount<R extends Comparable>(open: Open<R>, demands: Demands): Generator<Open<R>> {
  const groups = new Map<string, Open<R>>();
  for (const each of open.known) {
    if (each.amountMinor === null || !demands.known(each)) continue;
    const key = `${each.amountMinor} ${each.currency}`;
    const group = groups.get(key);
    if (group) group.known.push(each);
    else groups.set(key, { known: [each], rows: [] });
  }
  if (groups.size === 0) return;
  for (const row of open.rows) {
    if (row.amountMinor === null || !demands.row(row)) continue;
    const amount = demands.flipped ? -row.amountMinor : row.amountMinor;
    groups.get(`${amount} ${row.currency}`)?.rows.push(row);
  }
  for (const group of groups.values()) if (group.rows.length > 0) yield group;
}

function bunches<T extends Comparable>(list: readonly T[]): Bunch<T>[] {
  const byText = new Map<string | null, Bunch<T>>();
  for (const each of list) {
    const bunch = byText.get(each.description);
    if (bunch) bunch.members.push(each);
    else byText.set(each.description, { text: each.description, members: [each] });
  }
  for (const { members } of byText.values()) members.sort(byDate);
  return [...byText.values()];
}

function byDate(a: Comparable, b: Comparable): number {
  const ms = (dateOf(a)?.getTime() ?? 0) - (dateOf(b)?.getTime() ?? 0);
  if (ms !== 0) return ms;
  const [one, other] = [idOf(a), idOf(b)];
  return one < other ? -1 : 1;
}

function idOf(each: Comparable): string {
  return 'id' in each && typeof each.id === 'string' ? each.id : each.fingerprint;
}

/** The pairs of texts that have at least one pair of dates that fits, most alike first. */
function candidatesOf<R extends Comparable>(
  sides: { known: KnownBunch[]; rows: Bunch<R>[] },
  demands: Demands,
  texts: Trigrams,
): Candidate<R>[] {
  const pairs =
    sides.known.length * sides.rows.length > pairsMax
      ? pointedAt(sides)
      : sides.known.flatMap((known) => sides.rows.map((rows) => ({ known, rows })));
  const alike = demands.numbersVary ? likeness : numberedLikeness;
  const candidates = pairs
    .filter(({ known, rows }) => meet(known, rows, demands))
    .map((pair): Candidate<R> => ({ ...pair, text: alike(pair.known.text, pair.rows.text, texts) }));
  return candidates.toSorted((a, b) => (b.text ?? 0) - (a.text ?? 0) || order(a, b));
}

/** Any fixed order serves, as long as it is the same for the same texts. */
function order<R>(a: Candidate<R>, b: Candidate<R>): number {
  return `${a.known.text} ${a.rows.text}` < `${b.known.text} ${b.rows.text}` ? -1 : 1;
}

/**
 * Which of two bunches belong together: those of the usual day, and then the rest if that leaves no choice. A choice is more
 * than one day on either side: the order in which purchases were made is not the order in which they are booked.
 */
function inTime<R extends Comparable>({ known, rows }: Candidate<R>, demands: Demands): Pair<R>[] {
  const { pairs, rest, waiting } = usualDay({ known: known.members, rows: rows.members }, demands);
  const { usualDays } = demands;
  // Where it is known to vary, or not known yet, by how many days bookings move, two that move alike are chance.
  const isTelling = usualDays === undefined || (usualDays !== null && rest.length > 2);
  const isMoved = isTelling && rest.length === waiting.length && hasMoved(rest, waiting);
  const isChoice = (side: readonly Comparable[]) => new Set(side.map(dayOf)).size > 1;
  const longer: readonly Comparable[] = rest.length > waiting.length ? rest : waiting;
  if (!isMoved && (rest.length === waiting.length ? isChoice(rest) && isChoice(waiting) : isChoice(longer)))
    return pairs;
  return [...pairs, ...zip(rest, waiting).filter((pair) => fits(pair.known, pair.row, demands))];
}

/** Whether all of one side lie the same number of days after the other: the bank dates differently now. */
function hasMoved(rest: readonly Comparable[], waiting: readonly Comparable[]): boolean {
  const days = new Set(rest.map((each, index) => (dayOf(waiting[index] ?? each) ?? 0) - (dayOf(each) ?? 0)));
  return days.size === 1 && rest.every((each) => dayOf(each) !== undefined);
}

function usualDay<R extends Comparable>(
  { known, rows }: Open<R>,
  { usualDays = 0 }: Demands,
): { pairs: Pair<R>[]; rest: KnownTransaction[]; waiting: R[] } {
  if (usualDays === null) return { pairs: [], rest: known, waiting: rows };
  const byDay = Map.groupBy(rows, dayOf);
  const pairs: Pair<R>[] = [];
  const rest = known.filter((each) => {
    const day = dayOf(each);
    const row = byDay.get(day === undefined ? undefined : day + usualDays)?.shift();
    if (row) pairs.push({ known: each, row });
    return row === undefined;
  });
  const paired = new Set(pairs.map(({ row }) => row));
  return { pairs, rest, waiting: rows.filter((row) => !paired.has(row)) };
}

function zip<R>(known: readonly KnownTransaction[], rows: readonly R[]): Pair<R>[] {
  return known.flatMap((each, index): Pair<R>[] => {
    const row = rows[index];
    return row ? [{ known: each, row }] : [];
  });
}

/** Whether any pair of the two fits; both sides are in the order of their dates. */
function meet<R extends Comparable>(known: KnownBunch, rows: Bunch<R>, demands: Demands): boolean {
  let at = 0;
  for (const each of known.members) {
    for (; at < rows.members.length; at += 1) {
      const row = rows.members[at];
      if (!row || isLater(row, each, demands)) break;
      if (fits(each, row, demands)) return true;
    }
  }
  return false;
}

function isLater(row: Comparable, known: KnownTransaction, demands: Demands): boolean {
  const from = dayOf(known);
  const to = dayOf(row);
  return from !== undefined && to !== undefined && to - from > demands.daysAfter;
}

/** A pair without a date on one side fits: the text has to carry it. */
export function fits(known: Comparable, row: Comparable, demands: Pick<Demands, 'daysBefore' | 'daysAfter'>): boolean {
  const from = dayOf(known);
  const to = dayOf(row);
  if (from === undefined || to === undefined) return true;
  return to - from >= -demands.daysBefore && to - from <= demands.daysAfter;
}

function dayOf(row: Comparable): number | undefined {
  const at = dateOf(row);
  return at ? Math.floor(at.getTime() / dayMs) : undefined;
}

/** What of two bunches was not linked stays in doubt. */
function leave<R>({ known, rows }: Candidate<R>, pairs: readonly Pair<R>[]): void {
  const linked = new Set<unknown>(pairs.flatMap((pair) => [pair.known, pair.row]));
  known.members = known.members.filter((each) => !linked.has(each));
  rows.members = rows.members.filter((each) => !linked.has(each));
}

function report<R>(candidates: readonly Candidate<R>[], uncertain: Map<R, string[]>): void {
  for (const { known, rows, text = 1 } of candidates) {
    if (text < askMin || known.members.length === 0) continue;
    for (const row of rows.members) {
      const ids = uncertain.get(row) ?? [];
      uncertain.set(row, [...ids, ...known.members.map(({ id }) => id)].slice(0, candidatesMax));
    }
  }
}
