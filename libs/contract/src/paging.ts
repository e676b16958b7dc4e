import { Choice, DateTime, Integer, Nested, Text } from './field.js';
import { parseDateTime } from './date-time.js';
import { problems, type Issue } from './problem.js';

export const SortEnum = { date: 'date', '-date': '-date' } as const;
export type SortEnum = keyof typeof SortEnum;

export class FilterAndSort {
  @DateTime({ optional: true }) from?: string;
  @DateTime({ optional: true }) before?: string;
  @Integer({ optional: true, format: 'int32' }) limit?: number;
  @Choice(SortEnum, 'SortEnum', { optional: true }) sort?: string;
  @Integer({ optional: true, format: 'int32' }) offset?: number;
  @Text({ optional: true }) cursor?: string;
}

export class Next {
  @DateTime({ optional: true }) from?: string;
  @DateTime({ optional: true }) before?: string;
  @Integer({ optional: true, format: 'int32' }) limit?: number;
  @Text({ optional: true }) cursor?: string;
}

export class Pagination {
  @Integer({ optional: true, format: 'int64' }) totalCount?: number;
  @Nested(() => FilterAndSort, { optional: true }) self?: FilterAndSort;
  @Nested(() => Next, { optional: true }) next?: Next;
}

/** The largest page, and the page when no limit is given (interface, part 8). */
export const pageSizeMax = 1000;

/** What a caller asked of a list that is paged by offset; both ends of the window belong to it. */
export interface OffsetPage {
  from?: Date;
  before?: Date;
  limit: number;
  sort: SortEnum;
  offset: number;
}

/** The paging members of a query string, as any HTTP parser gives them. */
export type PageQuery = Readonly<Partial<Record<'from' | 'before' | 'limit' | 'sort' | 'offset', unknown>>>;

/**
 * Reads the paging members of a query: `from`, `before`, `limit` (1 to 1000), `sort`, `offset` (interface, part 4.2.1).
 * Throws one Problem that names every faulty member. A blank member counts as absent.
 */
export function readOffsetPage(query: PageQuery): OffsetPage {
  const issues: Issue[] = [];
  const from = instant(query, 'from', issues);
  const before = instant(query, 'before', issues);
  const limit = integer(query, { name: 'limit', min: 1, max: pageSizeMax }, issues) ?? pageSizeMax;
  const offset = integer(query, { name: 'offset', min: 0, max: Number.MAX_SAFE_INTEGER }, issues) ?? 0;
  const sort = text(query, 'sort', issues) ?? '-date';
  if (!isSort(sort)) issues.push(unexpected('sort', 'must be date or -date'));
  if (from && before && from > before) issues.push(unexpected('from', 'must not be after before'));
  if (issues.length > 0 || !isSort(sort)) throw problems.unexpectedValues(issues);
  return { ...(from ? { from } : {}), ...(before ? { before } : {}), limit, sort, offset };
}

/** `meta.pagination` of a page: what was asked, and how many records the query has in all. */
export function paginationOf(page: OffsetPage, totalCount: number): Pagination {
  const { from, before, limit, sort, offset } = page;
  const window = {
    ...(from ? { from: from.toISOString() } : {}),
    ...(before ? { before: before.toISOString() } : {}),
  };
  return { totalCount, self: { ...window, limit, sort, offset } };
}

/**
 * `links` of a page. The interface prints every parameter of the operation, those that were not sent as bare names:
 * `…/transactions?from&before&limit=1000&sort=-date&offset=0&cursor`.
 */
export function linksOf(
  url: string,
  page: OffsetPage,
  parameters: readonly PageParameter[] = transactionParameters,
): { self: string } {
  const values: Record<PageParameter, string | undefined> = {
    from: page.from?.toISOString(),
    before: page.before?.toISOString(),
    limit: String(page.limit),
    sort: page.sort,
    offset: String(page.offset),
    cursor: undefined,
  };
  const query = parameters.map((name) => (values[name] === undefined ? name : `${name}=${values[name]}`));
  return { self: `${url}?${query.join('&')}` };
}

export type PageParameter = 'from' | 'before' | 'limit' | 'sort' | 'offset' | 'cursor';
export const transactionParameters: readonly PageParameter[] = ['from', 'before', 'limit', 'sort', 'offset', 'cursor'];
export const statementParameters: readonly PageParameter[] = ['from', 'before', 'limit', 'sort', 'offset'];

/** The rows of a page out of all rows of the query, which are already filtered and sorted. */
export function slicePage<T>(rows: readonly T[], page: Pick<OffsetPage, 'limit' | 'offset'>): T[] {
  return rows.slice(page.offset, page.offset + page.limit);
}

function unexpected(parameter: string, message: string): Issue {
  return {
    type: 'INVALID_REQUEST',
    code: 'INVALID_PROPERTY_UNEXPECTED_VALUE',
    parameter,
    message: `${parameter} ${message}`,
  };
}

function isSort(value: string): value is SortEnum {
  return Object.hasOwn(SortEnum, value);
}

function text(query: PageQuery, name: keyof PageQuery, issues: Issue[]): string | undefined {
  const value = query[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  issues.push(unexpected(name, 'must be given once'));
  return undefined;
}

function integer(
  query: PageQuery,
  rule: { name: 'limit' | 'offset'; min: number; max: number },
  issues: Issue[],
): number | undefined {
  const value = text(query, rule.name, issues);
  if (value === undefined) return undefined;
  const number = /^[+-]?\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= rule.min && number <= rule.max) return number;
  const wanted = rule.max === pageSizeMax ? `between ${rule.min} and ${rule.max}` : `${rule.min} or more`;
  issues.push(unexpected(rule.name, `must be an integer ${wanted}`));
  return undefined;
}

function instant(query: PageQuery, name: 'from' | 'before', issues: Issue[]): Date | undefined {
  const value = text(query, name, issues);
  if (value === undefined) return undefined;
  // A plus sign that a client left unescaped in an address arrives as a space.
  const at = parseDateTime(value.replace(' ', '+'));
  if (!at) issues.push(unexpected(name, "must be a date-time in the form yyyy-MM-dd'T'HH:mm:ss.SSSZ"));
  return at;
}
