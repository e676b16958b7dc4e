import type { AggregatorClient } from '#libs/client';
import { pageSizeMax, type PsuHeaders, type Transaction } from '#libs/contract';
import { IncompleteAnswer } from './sync-fault.js';

/** 100,000 rows of one account; a walk that needs more is not a walk that ends. */
const pagesMax = 100;

/** What is asked for: an account's transactions of a period, both ends included; null is open. */
export interface AskedTransactions {
  token: string;
  accountId: string;
  from: Date | null;
  before: Date | null;
  psu: PsuHeaders | undefined;
}

/** A page as it came, and how many rows the whole answer has. */
export interface PageRead {
  rows: readonly Transaction[];
  totalCount: number;
}

/**
 * Reads a period page by page and hands each page on, so that no more than one is in memory. The answer is complete or it is
 * an error: a page that is short, a total that changes on the way or a missing total throws IncompleteAnswer, and then
 * nothing may be recorded. Answers the number of rows.
 */
export async function fetchTransactions(
  client: Pick<AggregatorClient, 'getTransactions'>,
  { token, accountId, from, before, psu }: AskedTransactions,
  onPage: (page: PageRead) => Promise<void>,
): Promise<number> {
  const period = { ...(from ? { from } : {}), ...(before ? { before } : {}), ...(psu ? { psu } : {}) };
  let read = 0;
  let totalCount: number | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const asked = { limit: pageSizeMax, offset: read, sort: 'date' as const, ...period };
    const { data, meta } = await client.getTransactions(token, accountId, asked);
    const total = meta.pagination?.totalCount;
    if (total === undefined) throw new IncompleteAnswer('A page came without a total');
    if (totalCount !== undefined && total !== totalCount)
      throw new IncompleteAnswer('The total changed between two pages');
    if (data.length !== Math.min(pageSizeMax, total - read)) throw new IncompleteAnswer('A page is short');
    totalCount = total;
    read += data.length;
    await onPage({ rows: data, totalCount: total });
    if (read >= total) return read;
  }
  throw new IncompleteAnswer('There are more pages than can be read');
}
