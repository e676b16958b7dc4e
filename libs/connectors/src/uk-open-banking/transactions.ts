import type { Transaction } from '#libs/contract';
import type { Institution, Page, Range } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import { listOf, toLondonTime } from '../wire.js';
import type { OBReadTransaction6, UkOpenBankingQuirks } from './uk-open-banking.types.js';

const DAY_MS = 86_400_000;
/** Banks that ignore `to` without `from` (quirk Q11) get both; ten years is further back than any of them keeps. */
const BEGINNING_MS = 3_653 * DAY_MS;
/** Pending entries are dated ahead (quirk Q16), so an open end is not today. */
const AHEAD_MS = 31 * DAY_MS;

/** What a cursor says: the bank's link, and where the next slice starts for banks that limit a request's span. */
interface Cursor {
  link?: string;
  from?: number;
  before?: number;
}

/** The request for one page: where to ask, and what of the asked range is left after this slice. */
export interface PageRequest {
  url: URL;
  rest?: { from: number; before: number };
}

/** Section 2.7: query dates carry no zone and are on the bank's clock. Throws malformed for a cursor that is not ours. */
export function toPageRequest(
  base: URL,
  { range, institution, now }: { range: Range; institution: Institution<'uk-open-banking'>; now: Date },
): PageRequest {
  const cursor = range.cursor === undefined ? undefined : decode(range.cursor);
  const rest = cursor ? slice(cursor.from, cursor.before) : undefined;
  if (cursor?.link !== undefined) return { url: follow(cursor.link, base), ...(rest ? { rest } : {}) };
  if (!rest && !range.from && !range.before) return { url: base };
  const before = rest?.before ?? range.before?.getTime() ?? now.getTime() + AHEAD_MS;
  const from = rest?.from ?? range.from?.getTime() ?? before - BEGINNING_MS;
  const spanMs = (institution.transactionsSpanDays ?? Infinity) * DAY_MS;
  const until = Math.min(before, from + spanMs);
  const url = new URL(base);
  url.searchParams.set('fromBookingDateTime', toLondonTime(new Date(from)));
  // Whole seconds only: rounding up keeps the inclusive end inside.
  url.searchParams.set('toBookingDateTime', toLondonTime(new Date(Math.ceil(until / 1000) * 1000)));
  return until < before ? { url, rest: { from: Math.ceil(until / 1000) * 1000 + 1000, before } } : { url };
}

function slice(from: number | undefined, before: number | undefined): PageRequest['rest'] {
  return from === undefined || before === undefined ? undefined : { from, before };
}

/** One page as the contract's transactions, in the bank's order. */
export function toPage(
  raw: OBReadTransaction6,
  { request, map }: { request: PageRequest; map: UkOpenBankingQuirks },
): Page<Transaction> {
  const items: Transaction[] = [];
  // A bank may leave the list out when a page is empty; a list of another shape is unreadable.
  for (const entry of raw.Data.Transaction === undefined ? [] : listOf(raw.Data.Transaction, 'Transaction')) {
    const transaction = map.toTransaction(entry);
    if (transaction) items.push(transaction);
  }
  const link = raw.Links?.Next;
  const cursor: Cursor = link ? { link: follow(link, request.url).href } : {};
  if (request.rest) Object.assign(cursor, request.rest);
  return link || request.rest ? { items, next: encode(cursor) } : { items };
}

/** Quirk Q8: a link that leads to another host or another resource would carry the customer's token there. */
function follow(link: string, request: URL): URL {
  const url = URL.canParse(link, request.href) ? new URL(link, request.href) : undefined;
  if (url?.origin !== request.origin || url.pathname !== request.pathname) {
    throw new InstitutionError('malformed', "The institution's next page is at another address");
  }
  return url;
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
