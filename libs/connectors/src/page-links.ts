import { InstitutionError } from './institution-error.js';

/** How a bank links the pages of a list, where that is not as its standard says. */
export interface PageLinks {
  /** Links lead to a wrong place; only their query counts (quirk Q8). */
  areQueriesOnly?: boolean;
  /** A link works only together with the query of the first request (quirk Q10). */
  needFirstQuery?: boolean;
}

/**
 * Where a page's link leads: to another query of the resource that was asked, or nowhere. At another host or another
 * resource the customer's token would be in the wrong hands (quirk Q8). What comes before the resource may be left out.
 */
export function resolveLink(link: string, request: URL, links: PageLinks = {}): URL | undefined {
  const led = URL.canParse(link, request.href) ? new URL(link, request.href) : undefined;
  const isHere = led?.origin === request.origin && request.pathname.endsWith(led.pathname);
  if (!led || !(isHere || links.areQueriesOnly)) return undefined;
  const url = new URL(request);
  url.search = led.search;
  if (links.needFirstQuery) {
    for (const [name, value] of request.searchParams) {
      if (!url.searchParams.has(name)) url.searchParams.set(name, value);
    }
  }
  return url;
}

/** The same for a link that must lead somewhere. */
export function followLink(link: string, request: URL, links: PageLinks | undefined): URL {
  const url = resolveLink(link, request, links);
  if (!url) throw new InstitutionError('malformed', "The institution's next page is at another address");
  return url;
}
