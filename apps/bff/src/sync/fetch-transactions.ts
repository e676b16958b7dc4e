import type { AggregatorClient } from '#libs/client';
import { pageSizeMax, type Transaction } from '#libs/contract';
import { IncompleteAnswer } from './sync-fault.js';

/** 100,000 rows of one account; a walk that needs more is not a walk that ends. */
const pagesMax = 100;

export interface PageRead {
  rows: number;
  totalCount: number;
}

/**
 * Reads every transaction that the consent allows, page by page. The answer is complete or it is an error: a page that is
 * short, a total that changes on the way or a missing total throws IncompleteAnswer, and then nothing may be recorded.
 */
export async function fetchTransactions(
  client: Pick<AggregatorClient, 'getTransactions'>,
  { token, accountId }: { token: string; accountId: string },
  onPage: (page: PageRead) => Promise<void>,
): Promise<Transaction[]> {
  const rows: Transaction[] = [];
  let totalCount: number | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const offset = rows.length;
    const { data, meta } = await client.getTransactions(token, accountId, { limit: pageSizeMax, offset, sort: 'date' });
    const total = meta.pagination?.totalCount;
    if (total === undefined) throw new IncompleteAnswer('A page came without a total');
    if (totalCount !== undefined && total !== totalCount)
      throw new IncompleteAnswer('The total changed between two pages');
    if (data.length !== Math.min(pageSizeMax, total - offset)) throw new IncompleteAnswer('A page is short');
    totalCount = total;
    for (const row of data) rows.push(row);
    await onPage({ rows: data.length, totalCount: total });
    if (rows.length >= total) return rows;
  }
  throw new IncompleteAnswer('There are more pages than can be read');
}
