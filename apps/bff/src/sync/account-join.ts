import type { Pool, PoolClient } from 'pg';
import { lockConnection } from '../connections/connection-lock.js';
import { appendEvent } from '../events/event-log.js';
import { joinHistories } from './joined-histories.js';
import { moveTransactions } from './moved-transactions.js';
import { recordChanges } from './record-changes.js';

/** Two accounts that are one, of which one at most is read. */
export interface AccountJoin {
  merchantId: string;
  customerId: string;
  /** The one whose id stays. */
  kept: JoinedAccount;
  gone: JoinedAccount;
  /** Who says so: their transactions, or a person. */
  by: 'transactions' | 'person';
}

/** An account, locked. */
export interface JoinedAccount {
  id: string;
  connectionId: string;
  institutionId: string;
  currency: string | null;
  /** Whether it is on the schedule. */
  isRead: boolean;
}

/**
 * Whoever says which of a customer's accounts are one, or whose they are, does so alone. Before anything else is locked: only who
 * holds this locks more than one connection.
 */
export async function lockAccounts(tx: PoolClient, customerId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`accounts:${customerId}`]);
}

/**
 * The account, locked, and before it its connection, as everybody does who changes what is below a connection; undefined where
 * the customer has none of this id.
 */
export async function lockAccount(tx: PoolClient, account: AccountName): Promise<JoinedAccount | undefined> {
  const { rows } = await tx.query<{ id: string }>(
    'select connection_id as id from accounts where id = $1 and customer_id = $2',
    [account.id, account.customerId],
  );
  if (!rows[0]) return undefined;
  await lockConnection(tx, rows[0].id);
  return lockAccountRow(tx, account);
}

/**
 * The account alone, for whoever has locked the connection that they believe it to belong to. Its key is not locked: where it belongs to
 * another one, that one's holder may go on to refer to it.
 */
export async function lockAccountRow(
  tx: PoolClient,
  { customerId, id }: AccountName,
): Promise<JoinedAccount | undefined> {
  const { rows } = await tx.query<JoinedAccount>(
    `select id, connection_id as "connectionId", institution_id as "institutionId", currency,
       exists (select from account_schedules where account_id = a.id and due_at is not null) as "isRead"
     from accounts a where id = $1 and customer_id = $2 for no key update`,
    [id, customerId],
  );
  return rows[0];
}

interface AccountName {
  customerId: string;
  id: string;
}

/**
 * Makes one account of two, both locked, in the caller's transaction: transactions, names, schedule, calls and balances of the
 * one that goes become those of the one that stays. A reading of it that is under way finds it gone, and records nothing.
 */
export async function joinAccounts(tx: PoolClient, pool: Pool, join: AccountJoin): Promise<void> {
  const { merchantId, customerId, kept, gone, by } = join;
  const [rest, read] = gone.isRead ? [kept, gone] : [gone, kept];
  const histories = { restId: rest.id, readId: read.id, institutionId: read.institutionId, accountId: kept.id };
  const { staged, changes } = await joinHistories(tx, pool, histories);
  await moveTransactions(tx, { customerId, from: gone.id, to: kept.id });
  await recordChanges(tx, { customerId, accountId: kept.id, syncRunId: null }, { staged, changes });
  await staged.discard(tx);
  await moveNames(tx, join);
  if (gone.isRead) await takePlace(tx, join);
  // What was known of either is held against everything that the institution shows.
  await tx.query('update account_schedules set audited_at = null where account_id = $1', [kept.id]);
  await tx.query('delete from staged_rows where account_id = $1', [gone.id]);
  await tx.query('delete from call_ledgers where subject_id = $1', [gone.id]);
  await tx.query('delete from accounts where id = $1', [gone.id]);
  const data = { accountId: kept.id, joinedAccountId: gone.id, by };
  await appendEvent(tx, { merchantId, customerId, type: 'account.joined', data });
}

/** What it was called and what its balances were stays known. */
async function moveNames(tx: PoolClient, { kept, gone }: AccountJoin): Promise<void> {
  await tx.query(
    `insert into account_aliases (customer_id, hash, account_id, kind, first_seen_at, last_seen_at)
     select customer_id, hash, $1, kind, first_seen_at, last_seen_at from account_aliases where account_id = $2
     on conflict (customer_id, hash, account_id) do update set
       first_seen_at = least(account_aliases.first_seen_at, excluded.first_seen_at),
       last_seen_at = greatest(account_aliases.last_seen_at, excluded.last_seen_at)`,
    [kept.id, gone.id],
  );
  await tx.query(
    `insert into balance_records (account_id, type, observed_at, amount, currency)
     select $1, type, observed_at, amount, currency from balance_records where account_id = $2 on conflict do nothing`,
    [kept.id, gone.id],
  );
}

/** It is read as the one that goes was read: under that one's connection and name, at its time and with its calls. */
async function takePlace(tx: PoolClient, { kept, gone }: AccountJoin): Promise<void> {
  const place = [kept.id, gone.id];
  await tx.query(
    `update accounts k set connection_id = g.connection_id, institution_id = g.institution_id,
       aggregator_account_id = g.aggregator_account_id, type = g.type, currency = coalesce(g.currency, k.currency),
       name = g.name, wire = g.wire,
       balances = coalesce(g.balances, k.balances), balances_at = coalesce(g.balances_at, k.balances_at),
       last_synced_at = coalesce(g.last_synced_at, k.last_synced_at)
     from accounts g where k.id = $1 and g.id = $2`,
    place,
  );
  const { rows } = await tx.query<{ history_from: Date | null }>(
    'delete from account_schedules where account_id = $1 returning history_from',
    [kept.id],
  );
  await tx.query(
    'update account_schedules set account_id = $1, history_from = least(history_from, $3::timestamptz) where account_id = $2',
    [...place, rows[0]?.history_from ?? null],
  );
  await tx.query(
    `insert into call_ledgers (subject_id, scope, connection_id, calls, blocked_until, next_at)
     select $1, scope, connection_id, calls, blocked_until, next_at from call_ledgers where subject_id = $2
     on conflict (subject_id, scope) do update set connection_id = excluded.connection_id,
       calls = array(select distinct call from unnest(call_ledgers.calls || excluded.calls) as call order by call),
       blocked_until = greatest(call_ledgers.blocked_until, excluded.blocked_until), next_at = excluded.next_at`,
    place,
  );
}
