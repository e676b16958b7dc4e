import { parseDateTime, type OffsetPage } from '#libs/contract';

/** The asked period; both ends belong to it. */
export interface Window {
  from?: Date;
  before?: Date;
}

/** The part of the asked period that the consent covers; undefined when they do not meet. */
export function clipWindow(
  { from, before }: Window,
  consent: { transactionFrom: Date | null; transactionTo: Date | null },
): Window | undefined {
  const start = later(from, consent.transactionFrom ?? undefined);
  const end = earlier(before, consent.transactionTo ?? undefined);
  if (start !== undefined && end !== undefined && start > end) return undefined;
  return { ...(start ? { from: start } : {}), ...(end ? { before: end } : {}) };
}

/**
 * The rows of the period, newest first; `dateOf` is the date-time that counts. Banks may answer with more than was asked, in
 * any order; rows of the same instant stay in the bank's order, and a row without a date, which no period can exclude, comes
 * first, as pending transactions do.
 */
export function newestFirst<T>(
  rows: readonly T[],
  { from, before }: Window,
  dateOf: (row: T) => string | undefined,
): T[] {
  const dated = rows.map((row) => ({ row, at: instantOf(dateOf(row)) }));
  return dated
    .filter(
      ({ at }) =>
        at === undefined ||
        ((from === undefined || at >= from.getTime()) && (before === undefined || at <= before.getTime())),
    )
    .toSorted((a, b) => (b.at ?? Infinity) - (a.at ?? Infinity) || 0)
    .map(({ row }) => row);
}

/** Which rows of an answer that is newest first make up a page; `to` is not part of it. */
export function rowsOfPage(
  { offset, limit, sort }: Pick<OffsetPage, 'offset' | 'limit' | 'sort'>,
  total: number,
): { from: number; to: number } {
  const first = Math.min(offset, total);
  const last = Math.min(offset + limit, total);
  return sort === 'date' ? { from: total - last, to: total - first } : { from: first, to: last };
}

function instantOf(date: string | undefined): number | undefined {
  if (date === undefined) return undefined;
  // What connectors write is UTC to the millisecond, which the engine reads ten times faster.
  const quick = date.length === 24 && date.endsWith('Z') ? Date.parse(date) : Number.NaN;
  return Number.isNaN(quick) ? parseDateTime(date)?.getTime() : quick;
}

function later(a: Date | undefined, b: Date | undefined): Date | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}

function earlier(a: Date | undefined, b: Date | undefined): Date | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
