import type { Pool, PoolClient } from 'pg';
import { lockConnection, lockConnectionsAt } from '../connections/connection-lock.js';
import { type AccountJoin, joinAccounts, type JoinedAccount, lockAccountRow, lockAccounts } from './account-join.js';
import { type AccountReading, notOffered, type StagedReading } from './account-reading.js';
import type { DueAccount } from './due-account.js';
import { lineageOf } from './institution-lineage.js';
import { isSameHistory, overlapOf } from './overlap.js';

/**
 * The account to which an answer belongs, locked with its connection; undefined where its connection has lost it meanwhile: two
 * may lead to one account, and only the one it belongs to writes. The first answer may show that it is an account that was read
 * before under other numbers and ids: then the new one has become that one, before anything of it is recorded.
 */
export async function accountOfAnswer(
  tx: PoolClient,
  pool: Pool,
  account: DueAccount,
  { transactions }: Pick<AccountReading, 'transactions'>,
): Promise<DueAccount | undefined> {
  const { account_id: id, customer_id: customerId } = account;
  if (isWhole(transactions)) await lockAllAt(tx, account);
  else await lockConnection(tx, account.connection_id);
  const own = await lockAccountRow(tx, { customerId, id });
  if (own?.connectionId !== account.connection_id) return undefined;
  if (account.read_at !== null || !isWhole(transactions)) return account;
  const { staged } = transactions;
  const kept = await twinOf(tx, account, staged.id);
  if (!kept) return account;
  await staged.moveTo(tx, kept.id);
  return become(tx, pool, account, { kept, gone: own });
}

/** The same once the answer is recorded, where the other account was still read before, as a consent may end after a new one. */
export async function accountAfterAnswer(
  tx: PoolClient,
  pool: Pool,
  account: DueAccount,
  { transactions }: Pick<AccountReading, 'transactions'>,
): Promise<DueAccount> {
  if (account.read_at === null || !isWhole(transactions)) return account;
  const kept = await twinOf(tx, account, null);
  const gone = kept && (await lockAccountRow(tx, { customerId: account.customer_id, id: account.account_id }));
  return gone ? become(tx, pool, account, { kept, gone }) : account;
}

function isWhole(transactions: AccountReading['transactions']): transactions is StagedReading {
  return transactions !== notOffered && transactions.reading.kind === 'whole';
}

/** A whole history may show that the account is one of another connection: those are locked too, while nothing else is. */
async function lockAllAt(
  tx: PoolClient,
  { customer_id: customerId, institution_id: institutionId }: DueAccount,
): Promise<void> {
  await lockAccounts(tx, customerId);
  await lockConnectionsAt(tx, { customerId, institutionIds: await lineageOf(tx, institutionId) });
}

async function become(
  tx: PoolClient,
  pool: Pool,
  account: DueAccount,
  names: Pick<AccountJoin, 'kept' | 'gone'>,
): Promise<DueAccount> {
  const { customer_id: customerId, merchant_id: merchantId } = account;
  await joinAccounts(tx, pool, { merchantId, customerId, ...names, by: 'transactions' });
  return { ...account, account_id: names.kept.id };
}

/** The only account with the same bookings of those that are read no more and that it may be, locked. */
async function twinOf(
  tx: PoolClient,
  { account_id: accountId, customer_id: customerId, institution_id: institutionId }: DueAccount,
  answerId: string | null,
): Promise<JoinedAccount | undefined> {
  const twins: string[] = [];
  for (const id of await candidatesFor(tx, accountId, await lineageOf(tx, institutionId)))
    if (isSameHistory(await overlapOf(tx, { accountId, answerId }, id))) twins.push(id);
  const [id] = twins;
  if (id === undefined || twins.length > 1) return undefined;
  const twin = await lockAccountRow(tx, { customerId, id });
  return twin?.isRead === false ? twin : undefined;
}

/** Other accounts of the customer at these institutions. */
async function candidatesFor(tx: PoolClient, id: string, institutionIds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select k.id from accounts a join accounts k on k.customer_id = a.customer_id and k.institution_id = any($2)
     left join account_schedules s on s.account_id = k.id
     where a.id = $1 and k.id <> a.id and s.due_at is null and coalesce(k.currency = a.currency, true) and coalesce(k.type = a.type, true)
     order by k.id`,
    [id, institutionIds],
  );
  return rows.map((row) => row.id);
}
