import { likeness, type Trigrams } from './likeness.js';
import type { Open, Pair } from './pairing.js';
import type { KnownTransaction } from './reconcile.js';
import type { TransactionRow } from './transaction-row.js';

/** How like two descriptions must be, and how far apart in time, for a pair that only the amount suggests. */
export interface Demands {
  known: (known: KnownTransaction) => boolean;
  row: (row: TransactionRow) => boolean;
  /** Days by which the row may lie before and after what is known. */
  daysBefore: number;
  daysAfter: number;
  /** Likeness that is enough where either side has no other choice. */
  soleMin: number;
  /** Likeness that is needed where there is a choice; the next best must be worse by `margin`. */
  bestMin: number;
}

export interface Resemblance extends Pair {
  confidence: number;
}

interface Candidate extends Pair {
  /** Likeness less a little for every day apart, so that the nearer of two equal texts comes first. */
  score: number;
  text: number | undefined;
}

export interface Resemblances {
  links: Resemblance[];
  /** Rows that could have come from something known, with its ids; not sure enough to link. */
  uncertain: Map<TransactionRow, string[]>;
}

const margin = 0.2;
const none = Number.NEGATIVE_INFINITY;
const dayMs = 86_400_000;
/** More pairs of one amount than this are not compared one by one: nothing could be told apart anyway. */
const pairsMax = 4096;
const candidatesMax = 5;

/**
 * Links what is known to rows of the same amount and currency whose date fits and whose text is like enough. A link is made
 * only where the choice is clear on both sides; indistinguishable rows are no choice. Everything else is reported, not guessed.
 */
export function resemble(open: Open, demands: Demands): Resemblances {
  const links: Resemblance[] = [];
  const uncertain = new Map<TransactionRow, string[]>();
  const texts: Trigrams = new Map();
  for (const { known, rows } of byAmount(open, demands)) {
    if (known.length * rows.length > pairsMax) {
      for (const row of rows) uncertain.set(row, firstIds(known));
      continue;
    }
    const candidates = candidatesOf({ known, rows }, demands, texts);
    const made = decide(candidates, demands);
    links.push(...made);
    const linked = new Set(made.flatMap((link) => [link.known, link.row] as object[]));
    for (const { known: from, row } of candidates) {
      if (linked.has(from) || linked.has(row)) continue;
      const ids = uncertain.get(row) ?? [];
      if (ids.length < candidatesMax) uncertain.set(row, [...ids, from.id]);
    }
  }
  const taken = new Set(links.map(({ row }) => row));
  open.rows = open.rows.filter((row) => !taken.has(row));
  const gone = new Set(links.map(({ known }) => known));
  open.known = open.known.filter((each) => !gone.has(each));
  return { links, uncertain };
}

function* byAmount(open: Open, demands: Demands): Generator<Open> {
  const groups = new Map<string, Open>();
  for (const each of open.known) {
    if (each.amountMinor === null || !demands.known(each)) continue;
    const key = `${each.amountMinor} ${each.currency}`;
    const group = groups.get(key);
    if (group) group.known.push(each);
    else groups.set(key, { known: [each], rows: [] });
  }
  if (groups.size === 0) return;
  for (const row of open.rows) {
    if (row.amountMinor !== null && demands.row(row)) groups.get(`${row.amountMinor} ${row.currency}`)?.rows.push(row);
  }
  for (const group of groups.values()) if (group.rows.length > 0) yield group;
}

function candidatesOf({ known, rows }: Open, demands: Demands, texts: Trigrams): Candidate[] {
  const candidates: Candidate[] = [];
  for (const each of known) {
    for (const row of rows) {
      const days = daysBetween(each, row);
      if (days !== undefined && (days < -demands.daysBefore || days > demands.daysAfter)) continue;
      const text = likeness(each.description, row.description, texts);
      candidates.push({ known: each, row, text, score: (text ?? 0) - Math.abs(days ?? 30) / 1000 });
    }
  }
  return candidates.toSorted((a, b) => b.score - a.score || order(a, b));
}

/** Any fixed order serves, as long as it is the same for the same rows. */
function order(a: Candidate, b: Candidate): number {
  const one = `${a.known.id} ${a.row.fingerprint}`;
  const other = `${b.known.id} ${b.row.fingerprint}`;
  return one < other ? -1 : 1;
}

/** Best first, each side at most once, and only where no distinguishable rival comes near. */
function decide(candidates: readonly Candidate[], demands: Demands): Resemblance[] {
  const links: Resemblance[] = [];
  const taken = new Set<object>();
  const bySide = sides(candidates);
  for (const candidate of candidates) {
    const { known, row } = candidate;
    if (taken.has(known) || taken.has(row)) continue;
    const isFree = (other: Candidate) => !taken.has(other.known) && !taken.has(other.row);
    const here = bySide.get(known)?.find((other) => isFree(other) && !alike(other.row, row));
    const there = bySide.get(row)?.find((other) => isFree(other) && !alike(other.known, known));
    const confidence = confidenceOf(candidate, Math.max(here?.score ?? none, there?.score ?? none), demands);
    if (confidence === undefined) continue;
    taken.add(known);
    taken.add(row);
    links.push({ known, row, confidence });
  }
  return links;
}

/** The candidates of each known transaction and of each row, best first. */
function sides(candidates: readonly Candidate[]): Map<object, Candidate[]> {
  const bySide = new Map<object, Candidate[]>();
  for (const candidate of candidates) {
    for (const side of [candidate.known, candidate.row]) {
      const listed = bySide.get(side);
      if (listed) listed.push(candidate);
      else bySide.set(side, [candidate]);
    }
  }
  return bySide;
}

type Seen = Pick<TransactionRow, 'description' | 'bookedAt' | 'status'>;

/** Whether choosing the one or the other makes no difference that anybody could see. */
function alike(a: Seen, b: Seen): boolean {
  return a.description === b.description && a.status === b.status && a.bookedAt?.getTime() === b.bookedAt?.getTime();
}

function confidenceOf({ text, score }: Candidate, rival: number, demands: Demands): number | undefined {
  if (text === undefined) return undefined;
  if (rival === none) return text >= demands.soleMin ? 0.9 + text / 10 : undefined;
  return text >= demands.bestMin && score - rival >= margin ? 0.85 + text / 10 : undefined;
}

/** From what is known to the row; undefined when either has no date. */
function daysBetween(known: KnownTransaction, row: TransactionRow): number | undefined {
  const from = dateOf(known);
  const to = dateOf(row);
  return from && to ? (to.getTime() - from.getTime()) / dayMs : undefined;
}

/** The bank's date of a row: booking date, else value date. */
export function dateOf(row: Pick<TransactionRow, 'bookedAt' | 'valueAt'>): Date | null {
  return row.bookedAt ?? row.valueAt;
}

function firstIds(known: readonly KnownTransaction[]): string[] {
  return known.slice(0, candidatesMax).map(({ id }) => id);
}
