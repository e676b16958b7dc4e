import { numbersOf } from './likeness.js';
import type { KnownTransaction } from './reconcile.js';

/** How alike texts must be. */
export interface TextDemands {
  /** Likeness that is enough where neither side has another choice. */
  soleMin: number;
  /** Likeness that is needed where there is a choice; the next best must be worse by `margin`. */
  bestMin: number;
  /** Nothing is linked but what reads the same. */
  sameText?: boolean;
  /** Numbers in texts change from row to row of one transaction, and tell nothing. */
  numbersVary?: boolean;
}

/** Transactions of one amount and currency that read the same, in the order of their dates. */
export interface Bunch<T> {
  text: string | null;
  members: T[];
}
export type KnownBunch = Bunch<KnownTransaction>;

/** What is known and rows that may be the same, by their texts. */
export interface Candidate<R> {
  known: KnownBunch;
  rows: Bunch<R>;
  /** Undefined when a text is missing. */
  text: number | undefined;
}

const margin = 0.2;
/** What more texts of one side have is no number of one of them. */
const sharersMax = 8;

/** The pairs that have the text in common, or a number that few others have. Linear. */
export function pointedAt<R>({ known, rows }: { known: KnownBunch[]; rows: Bunch<R>[] }): Omit<Candidate<R>, 'text'>[] {
  const pointersOf = ({ text }: Bunch<unknown>) => (text === null ? [] : new Set([text, ...numbersOf(text)]));
  const index = new Map<string, Bunch<R>[]>();
  for (const bunch of rows) {
    for (const each of pointersOf(bunch)) index.set(each, [...(index.get(each) ?? []), bunch].slice(0, sharersMax + 1));
  }
  return known.flatMap((bunch) => {
    const found = [...pointersOf(bunch)].flatMap((each) => {
      const sharers = index.get(each) ?? [];
      return sharers.length > sharersMax ? [] : sharers;
    });
    return [...new Set(found)].map((other) => ({ known: bunch, rows: other }));
  });
}

/** The candidates that each bunch of either side takes part in, most alike first. */
export type Choices<R> = ReadonlyMap<object, readonly Candidate<R>[]>;

export function choicesOf<R>(candidates: readonly Candidate<R>[]): Choices<R> {
  const choices = new Map<object, Candidate<R>[]>();
  for (const candidate of candidates) {
    for (const side of [candidate.known, candidate.rows]) {
      const list = choices.get(side);
      if (list) list.push(candidate);
      else choices.set(side, [candidate]);
    }
  }
  return choices;
}

/**
 * How surely the two are the same, 0 to 1; undefined where that is not clear. What reads the same is so if whatever else it
 * resembles has a namesake, too.
 */
export function confidenceOf<R>(
  candidate: Candidate<R>,
  { choices, taken }: { choices: Choices<R>; taken: ReadonlySet<object> },
  demands: TextDemands,
): number | undefined {
  const { known, rows, text } = candidate;
  if (text === undefined || taken.has(known) || taken.has(rows)) return undefined;
  if (demands.sameText && !readsTheSame(candidate)) return undefined;
  const rivals = [known, rows].flatMap((side) => {
    const other = side === known ? 'rows' : 'known';
    const isRival = (each: Candidate<R>) =>
      each !== candidate &&
      !taken.has(each[other]) &&
      !(readsTheSame(candidate) && (demands.sameText || hasNamesake(each[other], choices)));
    const rival = choices.get(side)?.find(isRival);
    return rival ? (rival.text ?? 0) : [];
  });
  if (rivals.length === 0) return text >= demands.soleMin ? 0.9 + text / 10 : undefined;
  return text >= demands.bestMin && text - Math.max(...rivals) >= margin ? 0.85 + text / 10 : undefined;
}

function readsTheSame<R>({ known, rows }: Candidate<R>): boolean {
  return known.text !== null && known.text === rows.text;
}

/** Whether something on the other side reads just as this one does: it is sooner that than what only resembles it. */
function hasNamesake<R>(side: object, choices: Choices<R>): boolean {
  return choices.get(side)?.some(readsTheSame) ?? false;
}
