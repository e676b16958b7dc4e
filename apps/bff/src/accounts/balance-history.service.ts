import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { parseDateTime, problems } from '#libs/contract';
import { POOL } from '#libs/database';
import type { Scope } from '../auth/caller.js';
import { cutPage, readListCursor } from '../cursor.js';
import type { BalanceHistory, BalanceQuery } from './account.dto.js';

interface BalanceRow {
  type: string;
  amount: string;
  currency: string;
  observed_at: Date;
}

/** How an account's balances have changed, as far as they were seen. */
@Injectable()
export class BalanceHistoryService {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** A page, the newest first: one row for each change of each type. */
  async list({ customerId }: Scope, accountId: string, query: BalanceQuery): Promise<BalanceHistory> {
    const { from, before, type, cursor, limit = 500 } = query;
    await this.assertOwn(customerId, accountId);
    const list = ['balances', accountId, from, before, type];
    const after = cursor === undefined ? undefined : readListCursor(cursor, list);
    const { rows } = await this.pool.query<BalanceRow>(
      `select type, amount, currency, observed_at from balance_records
       where account_id = $1 and ($2::timestamptz is null or observed_at >= $2) and ($3::timestamptz is null or observed_at <= $3)
         and ($4::text is null or type = $4) and ($5::timestamptz is null or (observed_at, type) < ($5, $6::text))
       order by observed_at desc, type desc limit $7`,
      [
        accountId,
        instant('from', from),
        instant('before', before),
        type ?? null,
        after?.date ?? null,
        after?.id ?? null,
        limit + 1,
      ],
    );
    const { page, more } = cutPage(rows, limit, { list, placeOf: ({ observed_at: date, type: id }) => ({ date, id }) });
    const data = page.map(({ amount, observed_at: observedAt, ...row }) => {
      return { ...row, amount: Number(amount), observedAt: observedAt.toISOString() };
    });
    return { data, ...more };
  }

  private async assertOwn(customerId: string, accountId: string): Promise<void> {
    const text = 'select 1 from accounts where id = $1 and customer_id = $2';
    const { rowCount } = await this.pool.query(text, [accountId, customerId]);
    if (rowCount === 0) throw problems.notFound({ message: 'The account is not known' });
  }
}

function instant(parameter: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const at = parseDateTime(text);
  if (!at) throw problems.unexpectedValue({ parameter, message: `${parameter} must be a date-time` });
  return at;
}
