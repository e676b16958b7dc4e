import type { PoolClient } from 'pg';
import { now } from '#libs/server';
import type { Change, Flag } from './change.js';
import { payloadOf } from './change-log.js';
import type { KnownTransaction } from './reconcile.js';
import { servedText } from './served-text.js';
import type { TransactionRow } from './transaction-row.js';

/** Whose changes are recorded, and by which run. */
export interface Recorded {
  customerId: string;
  accountId: string;
  syncRunId: string;
}

/** How many changes of each kind were recorded. */
export type Counts = Record<Change['kind'], number>;

interface KnownRow {
  id: string;
  status: string;
  bank_id: string | null;
  booked_at: Date | null;
  value_at: Date | null;
  amount_minor: string | null;
  currency: string | null;
  description: string | null;
  fingerprint: string;
  flag: string | null;
}

/** All live transactions of an account, as the reconciler wants them; without the texts it does not read. */
export async function knownTransactions(
  client: Pick<PoolClient, 'query'>,
  accountId: string,
): Promise<KnownTransaction[]> {
  const { rows } = await client.query<KnownRow>(
    `select id, status, bank_id, booked_at, value_at, amount_minor, currency, description, fingerprint, flag
     from transactions where account_id = $1 and removed_at is null`,
    [accountId],
  );
  return rows.map((row) => ({
    id: row.id,
    status: row.status === 'PENDING' ? 'PENDING' : 'BOOKED',
    bankId: row.bank_id,
    bookedAt: row.booked_at,
    valueAt: row.value_at,
    amountMinor: row.amount_minor === null ? null : BigInt(row.amount_minor),
    currency: row.currency,
    description: row.description,
    fingerprint: row.fingerprint,
    flag: row.flag === null ? null : (JSON.parse(row.flag) as Flag),
  }));
}

/**
 * Writes changes into the log and into the table that is its projection, in the caller's transaction. The numbers of the
 * log are taken from the customer's row, which stays locked until that transaction ends: no gaps, and one order for all
 * accounts of the customer. Three statements whatever the number of changes; none when there are no changes.
 */
export async function recordChanges(
  client: PoolClient,
  recorded: Recorded,
  changes: readonly Change[],
): Promise<Counts> {
  const counts: Counts = { added: 0, modified: 0, linked: 0, removed: 0, flagged: 0, cleared: 0 };
  if (changes.length === 0) return counts;
  for (const { kind } of changes) counts[kind] += 1;
  const { rows } = await client.query<{ last: string }>(
    'update customers set change_sequence = change_sequence + $2 where id = $1 returning change_sequence as last',
    [recorded.customerId, changes.length],
  );
  const last = rows[0]?.last;
  if (last === undefined) throw new Error('The customer is gone');
  const first = BigInt(last) - BigInt(changes.length) + 1n;
  const written = { ...recorded, at: now() };
  const numbered = changes.map((change, index) => ({ change, sequence: first + BigInt(index) }));
  await appendToLog(client, written, numbered);
  await upsertRows(client, written, numbered);
  await markRows(client, written.at, numbered);
  return counts;
}

/** Log and table say the same instant, so that replaying the log gives the table. */
type RecordedAt = Recorded & { at: Date };

interface Numbered {
  change: Change;
  sequence: bigint;
}

async function appendToLog(
  client: PoolClient,
  { customerId, accountId, syncRunId, at }: RecordedAt,
  numbered: readonly Numbered[],
): Promise<void> {
  await client.query(
    `insert into changes (customer_id, sequence, kind, account_id, transaction_id, sync_run_id, recorded_at, payload)
     select $1, u.sequence, u.kind, $2, u.id, $3, $4, u.payload
     from unnest($5::bigint[], $6::text[], $7::uuid[], $8::text[]) as u(sequence, kind, id, payload)`,
    [
      customerId,
      accountId,
      syncRunId,
      at,
      numbered.map(({ sequence }) => sequence),
      numbered.map(({ change }) => change.kind),
      numbered.map(({ change }) => change.id),
      numbered.map(({ change }) => payloadOf(change)),
    ],
  );
}

type Written = { sequence: bigint; id: string; row: TransactionRow; flag: Flag | undefined };

/** Rows that are new or say something else now. A changed row loses its flag: the bank has answered what it was about. */
async function upsertRows(
  client: PoolClient,
  { customerId, accountId, at }: RecordedAt,
  numbered: readonly Numbered[],
): Promise<void> {
  const written = numbered.flatMap(({ change, sequence }): Written[] =>
    'row' in change
      ? [{ sequence, id: change.id, row: change.row, flag: change.kind === 'added' ? change.flag : undefined }]
      : [],
  );
  if (written.length === 0) return;
  await client.query(
    `insert into transactions (id, customer_id, account_id, status, date, booked_at, value_at, amount, amount_minor, currency,
       description, bank_id, fingerprint, flag, wire, sequence, first_seen_at)
     select u.id, $1, $2, u.status, u.date, u.booked_at, u.value_at, u.amount, u.amount_minor, u.currency,
       u.description, u.bank_id, u.fingerprint, u.flag, u.wire, u.sequence, $3
     from unnest($4::uuid[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::numeric[], $10::bigint[],
       $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::bigint[])
       as u(id, status, date, booked_at, value_at, amount, amount_minor, currency, description, bank_id, fingerprint, flag, wire, sequence)
     on conflict (id) do update set status = excluded.status, date = excluded.date, booked_at = excluded.booked_at,
       value_at = excluded.value_at, amount = excluded.amount, amount_minor = excluded.amount_minor, currency = excluded.currency,
       description = excluded.description, bank_id = excluded.bank_id, fingerprint = excluded.fingerprint, flag = excluded.flag,
       wire = excluded.wire, sequence = excluded.sequence, removed_at = null`,
    [
      customerId,
      accountId,
      at,
      written.map(({ id }) => id),
      written.map(({ row }) => row.status),
      written.map(({ row }) => row.bookedAt ?? row.valueAt ?? at),
      written.map(({ row }) => row.bookedAt),
      written.map(({ row }) => row.valueAt),
      written.map(({ row }) => row.amount),
      written.map(({ row }) => row.amountMinor),
      written.map(({ row }) => row.currency),
      written.map(({ row }) => row.description),
      written.map(({ row }) => row.bankId),
      written.map(({ row }) => row.fingerprint),
      written.map(({ flag }) => (flag ? JSON.stringify(flag) : null)),
      written.map(({ id, row }) => servedText(row.wire, { id, accountId })),
      written.map(({ sequence }) => sequence),
    ],
  );
}

/** Rows that are removed, flagged or cleared: what they say stays as it is. */
async function markRows(client: PoolClient, at: Date, numbered: readonly Numbered[]): Promise<void> {
  const marked = numbered.filter(({ change }) => !('row' in change));
  if (marked.length === 0) return;
  await client.query(
    `update transactions t set sequence = u.sequence, flag = u.flag, removed_at = case when u.kind = 'removed' then $1::timestamptz else t.removed_at end
     from unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[]) as u(id, sequence, kind, flag) where t.id = u.id`,
    [
      at,
      marked.map(({ change }) => change.id),
      marked.map(({ sequence }) => sequence),
      marked.map(({ change }) => change.kind),
      marked.map(({ change }) => (change.kind === 'flagged' ? JSON.stringify(change.flag) : null)),
    ],
  );
}
