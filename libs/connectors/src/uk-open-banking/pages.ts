import type { Institution, Page, Range } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import { followLink, resolveLink, type PageLinks } from '../page-links.js';
import { toLondonTime } from '../wire.js';
import type { Links, UkOpenBankingSettings } from './uk-open-banking.types.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Banks that ignore `to` without `from` (quirk Q11) get both; ten years is further back than any of them keeps. */
const BEGINNING_MS = 3_653 * DAY_MS;
/** Pending entries are dated ahead (quirk Q16), so an open end is not today. */
const AHEAD_MS = 31 * DAY_MS;

/** The names of a list's query dates, and the longest span that one request may have. */
export interface Window {
  from: string;
  to: string;
  spanDays?: number | undefined;
}
export const statementDates: Window = { from: 'fromStatementDateTime', to: 'toStatementDateTime' };

export function transactionDates({ transactionsSpanDays }: Institution): Window {
  return { from: 'fromBookingDateTime', to: 'toBookingDateTime', spanDays: transactionsSpanDays };
}

/** What a cursor says: the bank's link, and where the next slice starts for banks that limit a request's span. */
interface Cursor {
  link?: string;
  from?: number;
  before?: number;
  isSlice?: true;
}

/** The request for one page: where to ask, and what of the asked range is left after this slice. */
export interface PageRequest {
  url: URL;
  rest?: { from: number; before: number };
  /** True when the answer is only a part of what was asked: its first and last page are not the list's. */
  isSlice: boolean;
  startsAt?: Date;
}

interface Asked {
  range: Range;
  window: Window;
  pageLinks?: PageLinks | undefined;
  now: Date;
  /** Before this instant the bank gives nothing any more. */
  earliest?: Date | undefined;
}

/** Query dates carry no zone and are on the bank's clock. Throws malformed for a cursor that is not ours. */
export function toPageRequest(base: URL, { range, window, pageLinks, now, earliest }: Asked): PageRequest {
  const cursor = range.cursor === undefined ? undefined : decode(range.cursor);
  const rest = cursor ? slice(cursor.from, cursor.before) : undefined;
  const isSlice = rest !== undefined || cursor?.isSlice === true;
  if (cursor?.link !== undefined) {
    return { url: followLink(cursor.link, base, pageLinks), isSlice, ...(rest ? { rest } : {}) };
  }
  if (!rest && !range.from && !range.before && !earliest) return { url: base, isSlice };
  const before = rest?.before ?? range.before?.getTime() ?? now.getTime() + AHEAD_MS;
  const asked = rest?.from ?? range.from?.getTime() ?? before - BEGINNING_MS;
  const from = Math.min(before, Math.max(asked, earliest?.getTime() ?? -Infinity));
  const until = Math.min(before, from + (window.spanDays ?? Infinity) * DAY_MS);
  const url = new URL(base);
  url.searchParams.set(window.from, toLondonTime(new Date(from)));
  // Whole seconds only: rounding up keeps the inclusive end inside.
  url.searchParams.set(window.to, toLondonTime(new Date(Math.ceil(until / 1000) * 1000)));
  const startsAt = from > asked ? { startsAt: new Date(from) } : {};
  if (until >= before) return { url, isSlice, ...startsAt };
  return { url, isSlice: true, rest: { from: Math.ceil(until / 1000) * 1000 + 1000, before }, ...startsAt };
}

function slice(from: number | undefined, before: number | undefined): PageRequest['rest'] {
  return from === undefined || before === undefined ? undefined : { from, before };
}

/**
 * Where a bank's history starts by now: everything for a while after the PSU authenticated, then so many days counted
 * on London's calendar. Nothing when the bank has no such rule.
 */
export function earliestOf(
  { history }: UkOpenBankingSettings,
  { authorisedAt, now }: { authorisedAt: number | undefined; now: Date },
): Date | undefined {
  if (!history) return undefined;
  if (authorisedAt !== undefined && now.getTime() < authorisedAt + history.fullMinutes * MINUTE_MS) return undefined;
  const [day = ''] = toLondonTime(now).split('T');
  // In summer this is an hour after midnight in London, which is inside the bank's limit too.
  return new Date(Date.parse(`${day}T00:00:00Z`) - history.days * DAY_MS);
}

/** One page of mapped items, in the bank's order, and the cursors of its neighbours. */
export function toPage<Row, Item>(
  { rows, links }: { rows: Row[] | undefined; links: Links | undefined },
  how: { request: PageRequest; pageLinks?: PageLinks | undefined; map: (row: Row) => Item | undefined },
): Page<Item> {
  const { request, pageLinks, map } = how;
  const items: Item[] = [];
  // A bank may leave the list out when a page is empty; a list of another shape is unreadable.
  for (const row of listOrNone(rows)) {
    const item = map(row);
    if (item !== undefined) items.push(item);
  }
  const page: Page<Item> = { items };
  const next: Cursor = links?.Next ? { link: followLink(links.Next, request.url, pageLinks).href } : {};
  if (request.isSlice) next.isSlice = true;
  if (links?.Next || request.rest) page.next = encode({ ...next, ...request.rest });
  if (request.startsAt) page.startsAt = request.startsAt;
  if (!request.isSlice) addNeighbours(page, links, { request, pageLinks });
  return page;
}

/** These are a kindness of the bank: one that leads nowhere is left out, where a broken `Next` fails the read. */
function addNeighbours<Item>(
  page: Page<Item>,
  links: Links | undefined,
  { request, pageLinks }: { request: PageRequest; pageLinks: PageLinks | undefined },
): void {
  const cursorOf = (link: string | undefined): string | undefined => {
    const url = link ? resolveLink(link, request.url, pageLinks) : undefined;
    return url && encode({ link: url.href });
  };
  const previous = cursorOf(links?.Prev);
  const first = cursorOf(links?.First);
  const last = cursorOf(links?.Last);
  if (previous) page.previous = previous;
  if (first) page.first = first;
  if (last) page.last = last;
}

function listOrNone<Row>(rows: Row[] | undefined): Row[] {
  if (rows === undefined) return [];
  if (!Array.isArray(rows)) throw new InstitutionError('malformed', 'The institution sent no readable list');
  return rows;
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
