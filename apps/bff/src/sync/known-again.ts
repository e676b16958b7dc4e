import type { Pool, PoolClient } from 'pg';
import { joinAccounts, lockAccount, lockAccounts } from './account-join.js';
import { type AccountReading, notOffered } from './account-reading.js';
import type { DueAccount } from './due-account.js';
import { isSameHistory, overlapOf } from './overlap.js';
import type { StagedAnswer } from './staged-answer.js';

/**
 * The account to which an answer belongs, locked; undefined where its connection has lost it meanwhile: two may lead to one
 * account, and only the one it belongs to writes. The first answer may show that it is an account that was read before under
 * other numbers and ids: then the new one has become that one, before anything of it is recorded.
 */
export async function accountOfAnswer(
  tx: PoolClient,
  pool: Pool,
  account: DueAccount,
  { transactions }: Pick<AccountReading, 'transactions'>,
): Promise<DueAccount | undefined> {
  const { account_id: id, customer_id: customerId } = account;
  const isFirst = account.read_at === null && transactions !== notOffered;
  if (isFirst) await lockAccounts(tx, customerId);
  const own = await lockAccount(tx, { customerId, id });
  if (own?.connectionId !== account.connection_id) return undefined;
  if (!isFirst) return account;
  const twin = await twinOf(tx, id, transactions.staged);
  const kept = twin === undefined ? undefined : await lockAccount(tx, { customerId, id: twin });
  if (!kept || kept.isRead) return account;
  await transactions.staged.moveTo(tx, kept.id);
  const { merchant_id: merchantId } = account;
  await joinAccounts(tx, pool, { merchantId, customerId, kept, gone: own, by: 'transactions' });
  return { ...account, account_id: kept.id };
}

/** The only account with the same bookings, of those that are not read any more and that it may be. */
async function twinOf(tx: PoolClient, id: string, staged: StagedAnswer): Promise<string | undefined> {
  const twins: string[] = [];
  for (const each of await candidatesFor(tx, id))
    if (isSameHistory(await overlapOf(tx, staged, each))) twins.push(each);
  return twins.length === 1 ? twins[0] : undefined;
}

/** Other accounts of the customer at the institution. */
async function candidatesFor(tx: PoolClient, id: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select k.id from accounts a join accounts k on k.customer_id = a.customer_id and k.institution_id = a.institution_id
     left join account_schedules s on s.account_id = k.id
     where a.id = $1 and k.id <> a.id and s.due_at is null and coalesce(k.currency = a.currency, true) and coalesce(k.type = a.type, true)
     order by k.id`,
    [id],
  );
  return rows.map((row) => row.id);
}
