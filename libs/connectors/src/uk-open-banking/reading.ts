import type { Page, Range } from '../connector.js';
import { InstitutionError, WalkLimitError } from '../institution-error.js';
import { followLink } from '../page-links.js';
import { isPreparing, readPatiently } from '../patience.js';
import { listOf } from '../wire.js';
import { toPage, toPageRequest, type Window } from './pages.js';
import type { Parts } from './parts.js';
import type { List, ListOf } from './uk-open-banking.api.js';
import type { Authorised } from './uk-open-banking.exchange.js';

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
  const { pageLinks } = parts.institution;
  const { list, accountId, range, window, earliest, map } = asked;
  const first = parts.api.listUrl(authorised.version, list, { AccountId: accountId });
  const request = toPageRequest(first, { range, window, pageLinks, now: parts.now(), earliest });
  const raw = await pageWhenReady(parts, authorised, { list, url: request.url });
  return toPage({ rows: raw.Data[list], links: raw.Links }, { request, pageLinks, map });
}

/** Every row of every page, or an error: a list is never cut silently. */
export async function everyRow<L extends List>(
  parts: ReadingParts,
  authorised: Authorised,
  { list, accountId }: { list: L; accountId?: string },
): Promise<Row<L>[]> {
  const { pageLinks, pageBounds } = parts.institution;
  const began = parts.now().getTime();
  const rows: Row<L>[] = [];
  const seen = new Set<string>();
  let url = parts.api.listUrl(authorised.version, list, accountId === undefined ? {} : { AccountId: accountId });
  for (;;) {
    seen.add(url.href);
    const { Data, Links } = await pageWhenReady(parts, authorised, { list, url });
    // The first page holds the list, be it empty; a later one may leave it out.
    if (Data[list] !== undefined || seen.size === 1) rows.push(...listOf<Row<L>>(Data[list], list));
    if (rows.length > pageBounds.records) throw new WalkLimitError('records', pageBounds.records);
    if (!Links?.Next) return rows;
    url = followLink(Links.Next, url, pageLinks);
    if (seen.has(url.href)) throw new InstitutionError('malformed', "The institution's pages lead in a circle");
    if (seen.size >= pageBounds.pages) throw new WalkLimitError('pages', pageBounds.pages);
    if (parts.now().getTime() - began > pageBounds.ms) throw new WalkLimitError('ms', pageBounds.ms);
  }
}

/** One page, once the bank has it ready. */
async function pageWhenReady<L extends List>(
  { api, institution: { pageLinks: links, patience } }: ReadingParts,
  authorised: Authorised,
  { list, url }: { list: L; url: URL },
): Promise<ListOf<L>> {
  return readPatiently(() => api.page(authorised, list, url), {
    isPreparing: ({ Data, Links }) => isPreparing({ rows: Data[list]?.length ?? 0, next: Links?.Next }, { url, links }),
    patience,
    signal: authorised.signal,
  });
}
