import type { Transaction } from '#libs/contract';
import type { Institution, Page, Range } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import { followLink, type PageLinks } from '../page-links.js';
import { isPreparing } from '../patience.js';
import { listOf, unreadable } from '../wire.js';
import type { BerlinGroupQuirks, TransactionDetails, TransactionsResponse } from './berlin-group.types.js';

const DAY_MS = 86_400_000;

/** What a cursor says: the bank's link, and the day where the next slice starts at banks that limit a request's span. */
interface Cursor {
  link?: string;
  from?: string;
  before?: string;
}

/** The request for one page, and what of the asked range is left after this slice. */
export interface PageRequest {
  url: URL;
  rest?: { from: string; before: string };
}

/**
 * Section 6.5.3: whole days, both ends inclusive; a start is mandatory, so without one the bank's usual history is
 * asked for. An open end stays open: pending entries are dated ahead (quirk Q16).
 */
export function toPageRequest(
  base: URL,
  { range, institution, now }: { range: Range; institution: Institution<'berlin-group'>; now: Date },
): PageRequest {
  const cursor = range.cursor === undefined ? undefined : decode(range.cursor);
  const rest = cursor?.from && cursor.before ? { from: cursor.from, before: cursor.before } : undefined;
  if (cursor?.link !== undefined)
    return { url: followLink(cursor.link, base, institution.pageLinks), ...(rest ? { rest } : {}) };
  const { bookingStatus, historyDays } = institution.settings;
  const from = rest?.from ?? dayOf(range.from ?? new Date(now.getTime() - historyDays * DAY_MS));
  const before = rest?.before ?? (range.before ? dayOf(range.before) : undefined);
  const url = new URL(base);
  url.searchParams.set('bookingStatus', bookingStatus);
  url.searchParams.set('dateFrom', from);
  const span = institution.transactionsSpanDays;
  const last = before ?? dayOf(now);
  const until = span === undefined ? undefined : addDays(from, span - 1);
  if (until !== undefined && until < last) {
    url.searchParams.set('dateTo', until);
    return { url, rest: { from: addDays(until, 1), before: last } };
  }
  if (before !== undefined) url.searchParams.set('dateTo', before);
  return { url };
}

/** One page as the contract's transactions, in the bank's order. Standing orders (`information`) are no movements of money. */
export function toPage(
  raw: TransactionsResponse,
  { request, links, map }: { request: PageRequest; links?: PageLinks | undefined; map: BerlinGroupQuirks },
): Page<Transaction> {
  const report = raw.transactions;
  // A report may be a file to download instead (section 6.5.3); we read JSON only.
  if (typeof report !== 'object' || report === null) throw unreadable('transactions');
  const items = [
    ...entries(report.pending, 'pending').map((entry) => map.toTransaction(entry, 'pending')),
    ...entries(report.booked, 'booked').map((entry) => map.toTransaction(entry, 'booked')),
  ];
  const page: Page<Transaction> = { items };
  const cursorOf = (name: 'next' | 'previous' | 'first' | 'last'): string | undefined => {
    const href = report._links?.[name]?.href;
    return href ? encode({ link: followLink(href, request.url, links).href, ...request.rest }) : undefined;
  };
  const next = cursorOf('next') ?? (request.rest ? encode(request.rest) : undefined);
  if (next !== undefined) page.next = next;
  for (const name of ['previous', 'first', 'last'] as const) {
    const cursor = cursorOf(name);
    if (cursor !== undefined) page[name] = cursor;
  }
  return page;
}

/** A bank leaves out the array that it was not asked for; a list of another shape is unreadable. */
function entries(list: TransactionDetails[] | null | undefined, name: string): TransactionDetails[] {
  return list === undefined || list === null ? [] : listOf(list, name);
}

/** Whether the bank is still gathering what it has. */
export function isStillPreparing(
  { transactions: report }: TransactionsResponse,
  { url, links }: { url: URL; links?: PageLinks | undefined },
): boolean {
  const rows = (report?.booked?.length ?? 0) + (report?.pending?.length ?? 0);
  return isPreparing({ rows, next: report?._links?.['next']?.href }, { url, links });
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function addDays(day: string, days: number): string {
  return dayOf(new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS));
}

function encode(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

function decode(text: string): Cursor {
  try {
    const cursor: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (typeof cursor === 'object' && cursor !== null) return cursor;
  } catch {
    // Refused below, like anything else that is no cursor of ours.
  }
  throw new InstitutionError('malformed', 'The cursor is not one of this institution');
}
