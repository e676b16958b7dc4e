import type { Pool } from 'pg';
import { type LogEntry, replay } from './change-log.js';
import type { RecordedAccount } from './recorded-account.fixture.js';
import { servedText } from './served-text.js';

/** The whole log of a customer. */
export async function logOf(pool: Pool, { customerId }: Pick<RecordedAccount, 'customerId'>): Promise<LogEntry[]> {
  const { rows } = await pool.query<Record<string, string> & { recorded_at: Date }>(
    'select * from changes where customer_id = $1 order by sequence',
    [customerId],
  );
  return rows.map((each) => ({
    sequence: BigInt(each['sequence'] ?? 0),
    recordedAt: each.recorded_at,
    kind: each['kind'] as LogEntry['kind'],
    accountId: each['account_id'] ?? '',
    transactionId: each['transaction_id'] ?? '',
    payload: each['payload'] ?? '',
    wire: each['wire'] ?? null,
  }));
}

/** The table with every column that follows from the log. */
export async function tableOf(pool: Pool, { customerId }: Pick<RecordedAccount, 'customerId'>): Promise<unknown[]> {
  const { rows } = await pool.query('select * from transactions where customer_id = $1 order by sequence', [
    customerId,
  ]);
  return rows.map(({ date: _date, customer_id: _customer, amount, ...each }) => ({
    ...each,
    amount: amount === null ? null : Number(amount),
  }));
}

/** The same, made of the log alone. */
export function projected(entries: LogEntry[]): unknown[] {
  const lines = [...replay(entries).values()].toSorted((left, right) => Number(left.sequence - right.sequence));
  return lines.map(({ id, accountId, row, flag, sequence, firstSeenAt, removedAt, ...more }) => ({
    id,
    account_id: accountId,
    status: row.status,
    booked_at: row.bookedAt,
    value_at: row.valueAt,
    amount: row.amount === null ? null : Number(row.amount),
    amount_minor: row.amountMinor === null ? null : String(row.amountMinor),
    currency: row.currency,
    description: row.description,
    bank_id: row.bankId,
    reference: row.reference,
    fingerprint: row.fingerprint,
    flag: flag && JSON.stringify(flag),
    wire: servedText(row, { id, accountId }),
    sequence: String(sequence),
    first_seen_at: firstSeenAt,
    removed_at: removedAt,
    joined_into: more.joinedInto,
    apart_from: more.apartFrom,
    dismissed: more.dismissed,
  }));
}
