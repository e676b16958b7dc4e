import type { PoolClient } from 'pg';
import { toScale } from './scaled-amount.js';

/** A row that the bank may have booked after the instant a balance stands for. */
export interface BookedAfter {
  /** Decimal text. */
  amount: string;
  /** Whether another row of these days has its amount: it may as well be a copy. */
  hasTwin: boolean;
}

/** Which rows are asked for: those that one synchronisation brought, or those known at an instant. */
export type Known = { customerId: string; since: string } | { until: Date };

interface Asked {
  accountId: string;
  currency: string;
  isPendingCounted: boolean;
  instant: Date;
  known: Known;
}

const rowsMax = 200;

/**
 * The counted rows that may be newer than the instant, newest first. A date without a time may be any time of its day; the
 * clocks of a bank and ours differ by minutes.
 */
export async function bookedAfter(
  tx: PoolClient,
  { accountId, currency, isPendingCounted, instant, known }: Asked,
): Promise<BookedAfter[]> {
  const which =
    'until' in known
      ? { text: 't.first_seen_at <= $5', values: [known.until] }
      : {
          text: `t.id in (select transaction_id from changes
            where customer_id = $5 and sequence > $6 and account_id = $1 and kind in ('added', 'linked'))`,
          values: [known.customerId, known.since],
        };
  const { rows } = await tx.query<BookedAfter>(
    `select t.amount, exists (select 1 from transactions o where o.account_id = $1 and o.id <> t.id and o.removed_at is null
         and o.currency = t.currency and o.amount = t.amount
         and o.date between t.date - interval '5 days' and t.date + interval '5 days') as "hasTwin"
     from transactions t
     where t.account_id = $1 and t.removed_at is null and t.amount is not null and t.currency = $2 and (t.status = 'BOOKED' or $3)
       and t.date > $4::timestamptz - interval '1 day'
       and t.date + case when t.date = date_trunc('day', t.date, 'UTC') then interval '1 day' else interval '5 minutes' end > $4
       and ${which.text}
     order by t.date desc, t.id limit ${rowsMax}`,
    [accountId, currency, isPendingCounted, instant, ...which.values],
  );
  return rows;
}

/** Whether the amount is that of one of the rows, which must have no twin, or of the newest so many together. Pure. */
export function isExplained(amount: bigint, rows: readonly BookedAfter[]): boolean {
  let together = 0n;
  return rows.some((row, index) => {
    const units = toScale(row.amount);
    together += units;
    return (!row.hasTwin && units === amount) || (index > 0 && together === amount);
  });
}
