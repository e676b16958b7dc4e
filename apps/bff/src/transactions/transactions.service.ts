import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems } from '#libs/contract';
import { POOL } from '#libs/database';
import type { Scope } from '../auth/caller.js';
import { type ListCursor, readFeedCursor, readListCursor, writeFeedCursor, writeListCursor } from '../cursor.js';
import { placeOfServed } from '../sync/served-text.js';
import { conditionsOf } from './transaction-filter.js';
import { type ChangesQuery, listSize, listSizeMax, type TransactionQuery } from './transaction.dto.js';

/** Pages of these sizes have statements that each connection keeps; one for every size would be too many. */
const sizesKept: ReadonlySet<number> = new Set([listSize, listSizeMax]);

interface ChangeRow {
  sequence: string;
  kind: string;
  id: string;
  account_id: string;
  wire: string | null;
  gone: boolean;
}

/**
 * What was synced of a customer's transactions. Answers are JSON texts put together from the stored text of each row:
 * nothing is parsed and printed again on the way out.
 */
@Injectable()
export class TransactionsService {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** A page, newest first, as JSON text; of one account when `accountId` is given. */
  async list({ customerId }: Scope, query: TransactionQuery, accountId?: string): Promise<string> {
    const limit = query.limit ?? listSize;
    const { where, values, name, list } = conditionsOf(customerId, query, accountId);
    let after = '';
    if (query.cursor !== undefined) {
      const { date, id } = readListCursor(query.cursor, list);
      after = ` and (date, id) < ($${values.push(date)}, $${values.push(id)})`;
    }
    const { rows } = await this.pool.query<{ wire: string }>({
      name: sizesKept.has(limit) ? `transactions-${name}${after && '-on'}-${limit}` : undefined,
      // One row more than the page tells whether there is more. The limit is in the text: as a value it would be planned for at
      // each call, because without knowing it the planner expects a tenth of all rows.
      text: `select wire from transactions where customer_id = $1 and ${where}${after}
             order by date desc, id desc limit ${limit + 1}`,
      values,
    });
    const texts = rows.slice(0, limit).map(({ wire }) => wire);
    const last = rows.length > limit ? await this.placeOf(texts.at(-1)) : undefined;
    if (!last) return pageText(texts, '"hasMore":false');
    return pageText(texts, `"hasMore":true,"nextCursor":"${writeListCursor(last, list)}"`);
  }

  /** Where a row stands in lists. Its text tells it, and is asked because columns beside each row would cost a tenth of the page. */
  private async placeOf(wire = ''): Promise<ListCursor | undefined> {
    const { id, date } = placeOfServed(wire);
    if (date) return { id, date };
    // Without a date of the bank's it stands where it was first seen. Rows go with their customer only, and then there are no more.
    const { rows } = await this.pool.query<ListCursor>('select id, date from transactions where id = $1', [id]);
    return rows[0];
  }

  async listOfAccount(scope: Scope, accountId: string, query: TransactionQuery): Promise<string> {
    await this.assertOwn(scope, accountId);
    return this.list(scope, query, accountId);
  }

  /** One of the customer's, as JSON text; 404 for what is not there any more, as for what never was. */
  async get({ customerId }: Scope, id: string): Promise<string> {
    const { rows } = await this.pool.query<{ wire: string }>(
      'select wire from transactions where id = $1 and customer_id = $2 and removed_at is null',
      [id, customerId],
    );
    if (!rows[0]) throw problems.notFound({ message: 'The transaction is not known' });
    return rows[0].wire;
  }

  /** 404 for an account of somebody else, as for one that does not exist. */
  async assertOwn({ customerId }: Scope, accountId: string): Promise<void> {
    const text = 'select 1 from accounts where id = $1 and customer_id = $2';
    const { rowCount } = await this.pool.query(text, [accountId, customerId]);
    if (rowCount === 0) throw problems.notFound({ message: 'The account is not known' });
  }

  /**
   * What has changed since a cursor, from the customer's log. Each transaction appears once and as it is now, so a page
   * may show a state that a later entry brings again; whoever applies all pages in order ends with what is stored.
   */
  async changes({ customerId }: Scope, query: ChangesQuery): Promise<string> {
    const limit = query.limit ?? listSizeMax;
    const since = query.cursor === undefined ? 0n : readFeedCursor(query.cursor);
    const { rows } = await this.pool.query<ChangeRow>({
      name: 'transaction-changes',
      text: `select c.sequence, c.kind, c.transaction_id as id, c.account_id, t.wire, (t.id is null or t.removed_at is not null) as gone
             from changes c left join transactions t on t.id = c.transaction_id
             where c.customer_id = $1 and c.sequence > $2 order by c.sequence limit $3`,
      values: [customerId, since, limit + 1],
    });
    const page = rows.slice(0, limit);
    const { added, modified, removed } = sort(page);
    const reached = BigInt(page.at(-1)?.sequence ?? since);
    return (
      `{"added":[${added.join(',')}],"modified":[${modified.join(',')}],"removed":[${removed.join(',')}],` +
      `"nextCursor":"${writeFeedCursor(reached)}","hasMore":${rows.length > limit}}`
    );
  }
}

/** What stands around the rows goes into the first and the last text, so that a hundred kilobytes are put together once. */
function pageText(texts: readonly string[], rest: string): string {
  const parts = texts.length === 0 ? [''] : [...texts];
  parts[0] = `{"data":[${parts[0]}`;
  parts[parts.length - 1] += `],${rest}}`;
  return parts.join(',');
}

/** One entry for each transaction of the page, by what it is now. */
function sort(page: readonly ChangeRow[]): Record<'added' | 'modified' | 'removed', string[]> {
  const sorted: Record<'added' | 'modified' | 'removed', string[]> = { added: [], modified: [], removed: [] };
  const added = new Set(page.filter(({ kind }) => kind === 'added').map(({ id }) => id));
  for (const { id, account_id: accountId, wire, gone } of new Map(page.map((row) => [row.id, row])).values()) {
    if (gone || wire === null) sorted.removed.push(JSON.stringify({ id, accountId }));
    else sorted[added.has(id) ? 'added' : 'modified'].push(wire);
  }
  return sorted;
}
