import type { PoolClient } from 'pg';
import { now } from '#libs/server';
import type { Change, Flag } from './change.js';
import { payloadOf } from './change-log.js';
import { copyRows, type Value } from './copy-rows.js';
import type { KnownTransaction } from './reconcile.js';
import { servedText, storable } from './served-text.js';
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
 * accounts of the customer. A handful of statements whatever the number of changes; none when there are no changes.
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
  await insertRows(client, written, numbered);
  await updateRows(client, written, numbered);
  await markRows(client, written.at, numbered);
  return counts;
}

/** Log and table say the same instant, so that replaying the log gives the table. */
type RecordedAt = Recorded & { at: Date };

interface Numbered {
  change: Change;
  sequence: bigint;
}

function appendToLog(
  client: PoolClient,
  { customerId, accountId, syncRunId, at }: RecordedAt,
  numbered: readonly Numbered[],
): Promise<void> {
  return copyRows(
    client,
    {
      table: 'changes',
      columns: [
        'customer_id',
        'sequence',
        'kind',
        'account_id',
        'transaction_id',
        'sync_run_id',
        'recorded_at',
        'payload',
      ],
    },
    numbered.map(({ change, sequence }) => {
      return [customerId, sequence, change.kind, accountId, change.id, syncRunId, at, payloadOf(change)];
    }),
  );
}

/** The columns that follow from what a transaction says now, in the order of `contentOf`. */
const contentColumns = [
  ['status', 'text'],
  ['date', 'timestamptz'],
  ['booked_at', 'timestamptz'],
  ['value_at', 'timestamptz'],
  ['amount', 'numeric'],
  ['amount_minor', 'bigint'],
  ['currency', 'text'],
  ['description', 'text'],
  ['bank_id', 'text'],
  ['fingerprint', 'text'],
  ['flag', 'text'],
  ['wire', 'text'],
  ['sequence', 'bigint'],
] as const;

/** A change that says what a transaction is now. A changed row loses its flag: the bank has answered what it was about. */
type Content = Extract<Change, { row: TransactionRow }>;

function contentOf(change: Content, sequence: bigint, { accountId, at }: RecordedAt): Value[] {
  const { id, row } = change;
  const flag = change.kind === 'added' && change.flag ? JSON.stringify(change.flag) : null;
  const date = row.bookedAt ?? row.valueAt ?? at;
  const dates = [date, row.bookedAt, row.valueAt];
  const words = [row.currency, row.description, row.bankId].map(storable);
  return [
    row.status,
    ...dates,
    row.amount,
    row.amountMinor,
    ...words,
    row.fingerprint,
    flag,
    servedText(row.wire, { id, accountId }),
    sequence,
  ];
}

async function insertRows(client: PoolClient, recorded: RecordedAt, numbered: readonly Numbered[]): Promise<void> {
  const { customerId, accountId, at } = recorded;
  const rows = numbered.flatMap(({ change, sequence }): Value[][] =>
    change.kind === 'added' ? [[change.id, customerId, accountId, at, ...contentOf(change, sequence, recorded)]] : [],
  );
  if (rows.length === 0) return;
  const columns = ['id', 'customer_id', 'account_id', 'first_seen_at', ...contentColumns.map(([name]) => name)];
  await copyRows(client, { table: 'transactions', columns }, rows);
}

async function updateRows(client: PoolClient, recorded: RecordedAt, numbered: readonly Numbered[]): Promise<void> {
  const rows = numbered.flatMap(({ change, sequence }): Value[][] =>
    change.kind === 'modified' || change.kind === 'linked'
      ? [[change.id, ...contentOf(change, sequence, recorded)]]
      : [],
  );
  if (rows.length === 0) return;
  const columns = [['id', 'uuid'] as const, ...contentColumns];
  await client.query(
    `update transactions t set ${contentColumns.map(([name]) => `${name} = u.${name}`).join(', ')}
     from unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ')})
       as u(${columns.map(([name]) => name).join(', ')}) where t.id = u.id`,
    columns.map((_, index) => rows.map((row) => row[index])),
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
