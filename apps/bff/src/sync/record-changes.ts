import type { PoolClient } from 'pg';
import { now } from '#libs/server';
import { hasRow, type Change, type ChangeKind } from './change.js';
import { payloadOf } from './change-log.js';
import { withHashedJoins } from './hashed-joins.js';
import { servedSql } from './served-text.js';
import type { StagedAnswer } from './staged-answer.js';
import type { Comparable } from './transaction-row.js';

/** Whose changes are recorded, and by which run; a person's correction has none. */
export interface Recorded {
  customerId: string;
  accountId: string;
  syncRunId: string | null;
}

/** How many changes of each kind were recorded. */
export type Counts = Record<ChangeKind, number>;

/** A row of a staged answer, without the texts that need not leave the database. */
export interface StagedRow extends Comparable {
  ordinal: number;
  /** Its id, should it be a new transaction. */
  newId: string;
}

export function noCounts(): Counts {
  return { added: 0, modified: 0, linked: 0, joined: 0, split: 0, removed: 0, flagged: 0, cleared: 0, moved: 0 };
}

/** Takes `count` numbers of the customer's log and answers the first. The row stays locked until the transaction ends. */
export async function takeNumbers(client: PoolClient, customerId: string, count: number): Promise<bigint> {
  const { rows } = await client.query<{ last: string }>(
    'update customers set change_sequence = change_sequence + $2 where id = $1 returning change_sequence as last',
    [customerId, count],
  );
  const last = rows[0]?.last;
  if (last === undefined) throw new Error('The customer is gone');
  return BigInt(last) - BigInt(count) + 1n;
}

/** The columns that follow from what a transaction says, each with the SQL that makes it of a staged row `s`. */
const content = {
  status: 's.status',
  date: 'coalesce(s.booked_at, s.value_at, $3::timestamptz)',
  booked_at: 's.booked_at',
  value_at: 's.value_at',
  amount: 's.amount',
  amount_minor: 's.amount_minor',
  currency: 's.currency',
  description: 's.description',
  bank_id: 's.bank_id',
  reference: 's.reference',
  fingerprint: 's.fingerprint',
};
const names = Object.keys(content).join(', ');
const values = Object.values(content).join(', ');
const assignments = Object.entries(content)
  .map(([name, value]) => `${name} = ${value}`)
  .join(', ');

function wireSql(id: string): string {
  return servedSql({ rest: 's.served', id, accountId: '$1::uuid' });
}

/**
 * Writes changes into the log and into the table that is its projection, in the caller's transaction. The numbers of the
 * log are taken from the customer's row, which stays locked until that transaction ends: no gaps, and one order for all
 * accounts of the customer. What transactions say is taken from the staged answer by Postgres itself; four statements that
 * write, whatever the number of changes, none when there are no changes.
 */
export async function recordChanges(
  client: PoolClient,
  { customerId, accountId, syncRunId }: Recorded,
  { staged, changes }: { staged: StagedAnswer; changes: readonly Change<StagedRow>[] },
): Promise<Counts> {
  const counts = noCounts();
  if (changes.length === 0) return counts;
  for (const { kind } of changes) counts[kind] += 1;
  const first = await takeNumbers(client, customerId, changes.length);
  const at = now();
  const place = [accountId, staged.id, at];
  const list = changes.map((change, index) => toColumns(change, first + BigInt(index)));
  const columns = [0, 1, 2, 3, 4, 5, 6, 7].map((column) => list.map((each) => each[column] ?? null));
  const given = `unnest($4::bigint[], $5::text[], $6::uuid[], $7::int[], $8::text[], $9::text[], $10::uuid[], $11::text[])
    as u(sequence, kind, id, ordinal, payload, flag, other, dismissed)`;
  // By its place, so that few changes to a long answer touch few of its rows.
  const stagedRow = `lateral (select * from staged_rows where account_id = $1 and answer_id = $2 and ordinal = u.ordinal offset 0) s`;
  const run = (text: string, ...more: unknown[]) => client.query(text, [...place, ...columns, ...more]);
  await withHashedJoins(client, async () => {
    await run(
      `insert into changes (customer_id, sequence, kind, account_id, transaction_id, sync_run_id, recorded_at, payload, wire)
       select $12, u.sequence, u.kind, $1, u.id, $13, $3, u.payload, ${wireSql('u.id')}
       from ${given} left join ${stagedRow} on true`,
      customerId,
      syncRunId,
    );
    await run(
      `insert into transactions (id, customer_id, account_id, first_seen_at, ${names}, flag, wire, sequence, removed_at, joined_into, apart_from)
       select u.id, $12, $1, $3, ${values}, u.flag, ${wireSql('u.id')}, u.sequence, case when u.kind = 'joined' then $3::timestamptz end,
         case when u.kind = 'joined' then u.other end, case when u.kind = 'split' then array[u.other] else '{}' end
       from ${given} cross join ${stagedRow} where u.kind in ('added', 'joined', 'split')
         and not exists (select from transactions t where t.id = u.id and t.id = any($6))`,
      customerId,
    );
    await run(
      `update transactions t set ${assignments}, flag = null, wire = ${wireSql('u.id')}, sequence = u.sequence,
         joined_into = case when u.kind = 'joined' then u.other end,
         removed_at = case when u.kind = 'joined' then coalesce(t.removed_at, $3) end,
         apart_from = case when u.kind = 'split' then t.apart_from || u.other else t.apart_from end,
         dismissed = case when u.kind in ('modified', 'linked') then null else t.dismissed end
       from ${given} cross join ${stagedRow} where t.id = u.id and t.id = any($6) and t.sequence < u.sequence`,
    );
    await run(
      `update transactions t set sequence = u.sequence, flag = u.flag, dismissed = coalesce(u.dismissed, t.dismissed),
         removed_at = case when u.kind = 'removed' then coalesce(t.removed_at, $3) else t.removed_at end,
         joined_into = case when u.kind = 'removed' then null else t.joined_into end
       from ${given} where t.id = u.id and t.id = any($6) and u.ordinal is null and ($1::uuid, $2::uuid) is not null`,
    );
  });
  return counts;
}

type Column = string | bigint | number | null;

/** In the order of `unnest` above. */
function toColumns(change: Change<StagedRow>, sequence: bigint): Column[] {
  const flag = 'flag' in change && change.flag ? JSON.stringify(change.flag) : null;
  const other = change.kind === 'joined' ? change.into : change.kind === 'split' ? change.from : null;
  const dismissed = change.kind === 'cleared' ? (change.dismissed ?? null) : null;
  const ordinal = hasRow(change) ? change.row.ordinal : null;
  return [sequence, change.kind, change.id, ordinal, payloadOf(change), flag, other, dismissed];
}

/** Rows of one statement: a long history must not need more time than a statement may take. */
const addedMax = 10_000;

/**
 * Records every staged row but those of `except` as a new transaction, without any of them leaving the database. For what
 * nothing can be matched with.
 */
export async function addStaged(
  client: PoolClient,
  { customerId, accountId, syncRunId }: Recorded,
  { staged, except }: { staged: StagedAnswer; except: readonly number[] },
): Promise<number> {
  const count = staged.size - except.length;
  if (count === 0) return 0;
  const first = await takeNumbers(client, customerId, count);
  const place = [accountId, staged.id, now(), customerId, first, except.toSorted((one, other) => one - other)];
  const rows = `staged_rows s where s.account_id = $1 and s.answer_id = $2 and s.ordinal <> all($6::int[])
    and s.ordinal >= $7 and s.ordinal < $7 + ${addedMax}`;
  // The ordinals have no gaps but those of `except`: nothing needs to be sorted or counted.
  const sequence = '$5::bigint + s.ordinal - width_bucket(s.ordinal, $6::int[])';
  for (let from = 0; from < staged.size; from += addedMax) {
    await client.query(
      `insert into changes (customer_id, sequence, kind, account_id, transaction_id, sync_run_id, recorded_at, payload, wire)
       select $4, ${sequence}, 'added', $1, s.new_id, $8, $3, '{}', ${wireSql('s.new_id')} from ${rows}`,
      [...place, from, syncRunId],
    );
    await client.query(
      `insert into transactions (id, customer_id, account_id, first_seen_at, ${names}, wire, sequence)
       select s.new_id, $4, $1, $3, ${values}, ${wireSql('s.new_id')}, ${sequence} from ${rows}`,
      [...place, from],
    );
  }
  return count;
}
