import { setTimeout } from 'node:timers/promises';
import type { Page, Range } from '../connector.js';
import { InstitutionError, WalkLimitError } from '../institution-error.js';
import { listOf } from '../wire.js';
import { follow, isPreparing, toPage, toPageRequest, type Window } from './pages.js';
import type { Parts } from './parts.js';
import type { List, ListOf } from './uk-open-banking.api.js';
import type { Authorised } from './uk-open-banking.exchange.js';

/** Reads made at once; more would look like an attack to a bank that counts. */
const READS_AT_ONCE = 4;
const usualPatience = { turns: 3, waitMs: 700 };

type ReadingParts = Pick<Parts, 'institution' | 'api' | 'now'>;
type Row<L extends List> = NonNullable<ListOf<L>['Data'][L]>[number];

/** One page of an account's list, mapped; the range says which. */
export async function pageOf<L extends List, Item>(
  parts: ReadingParts,
  authorised: Authorised,
  asked: {
    list: L;
    accountId: string;
    range: Range;
    window: Window;
    earliest?: Date | undefined;
    map: (row: Row<L>) => Item | undefined;
  },
): Promise<Page<Item>> {
  const { settings } = parts.institution;
  const { list, accountId, range, window, earliest, map } = asked;
  const first = parts.api.listUrl(authorised.version, list, { AccountId: accountId });
  const request = toPageRequest(first, { range, window, settings, now: parts.now(), earliest });
  const raw = await readPatiently(parts, authorised, { list, url: request.url });
  return toPage({ rows: raw.Data[list], links: raw.Links }, { request, settings, map });
}

/** Every row of every page, or an error: a list is never cut silently. */
export async function everyRow<L extends List>(
  parts: ReadingParts,
  authorised: Authorised,
  { list, accountId }: { list: L; accountId?: string },
): Promise<Row<L>[]> {
  const { settings, pageBounds } = parts.institution;
  const began = parts.now().getTime();
  const rows: Row<L>[] = [];
  const seen = new Set<string>();
  let url = parts.api.listUrl(authorised.version, list, accountId === undefined ? {} : { AccountId: accountId });
  for (;;) {
    seen.add(url.href);
    const { Data, Links } = await readPatiently(parts, authorised, { list, url });
    // The first page holds the list, be it empty; a later one may leave it out.
    if (Data[list] !== undefined || seen.size === 1) rows.push(...listOf<Row<L>>(Data[list], list));
    if (rows.length > pageBounds.records) throw new WalkLimitError('records', pageBounds.records);
    if (!Links?.Next) return rows;
    url = follow(Links.Next, url, settings);
    if (seen.has(url.href)) throw new InstitutionError('malformed', "The institution's pages lead in a circle");
    if (seen.size >= pageBounds.pages) throw new WalkLimitError('pages', pageBounds.pages);
    if (parts.now().getTime() - began > pageBounds.ms) throw new WalkLimitError('ms', pageBounds.ms);
  }
}

/** Asks again while the bank prepares, a few times and no longer (quirk Q9). */
async function readPatiently<L extends List>(
  { api, institution: { settings } }: ReadingParts,
  authorised: Authorised,
  { list, url }: { list: L; url: URL },
): Promise<ListOf<L>> {
  const { turns, waitMs } = settings.patience ?? usualPatience;
  for (let turn = 1; ; turn += 1) {
    const raw = await api.page(authorised, list, url);
    if (!isPreparing({ rows: raw.Data[list], links: raw.Links }, { url, settings })) return raw;
    if (turn >= turns) {
      throw new InstitutionError('unavailable', 'The institution is still preparing the data', {
        retryAfterMs: waitMs * turns,
      });
    }
    await pause(waitMs * turn, authorised.signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (fault) {
    signal.throwIfAborted();
    throw fault;
  }
}

/** The work on every item, a few at a time, in the order of the items. */
export async function inTurns<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const workers = Array.from({ length: Math.min(READS_AT_ONCE, items.length) }, async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  });
  await Promise.all(workers);
  return results;
}
