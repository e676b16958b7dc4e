import type { Pool } from 'pg';
import { type AggregatorClient, ClientError } from '#libs/client';
import type { Balances } from '#libs/contract';
import { assertLease, type Lease, renewLease, transaction } from '#libs/database';
import { fetchTransactions } from './fetch-transactions.js';
import { type AccountsOwner, type KnownAccount } from './record-accounts.js';
import { recordAnswer } from './record-answer.js';
import { type Counts, noCounts } from './record-changes.js';
import { StagedAnswer } from './staged-answer.js';
import type { SyncRun } from './sync-run.js';

/** Longer than any one call to the aggregator; renewed with every answer, so a crashed worker is replaced soon. */
export const leaseMs = 45_000;

/** What one account's synchronisation works with. */
export interface AccountWork {
  pool: Pool;
  client: AggregatorClient;
  token: string;
  owner: AccountsOwner;
  lease: Lease;
  run: SyncRun;
}

/**
 * Reads one account completely and then records it at once: balances, rows, log and cursor in one transaction, under the
 * lease's fence. Throws what the reading threw, and then nothing of the account has been written.
 */
export async function syncAccount(work: AccountWork, account: KnownAccount): Promise<void> {
  const { pool, client, token, run, lease } = work;
  const target = { token, accountId: account.aggregatorAccountId };
  await renewLease(pool, lease, leaseMs);
  const balances = await fetchBalances(client, target);
  let expected = 0;
  const fetched = await fetchTransactions(client, target, async ({ rows, totalCount }) => {
    const more = totalCount - expected;
    expected = totalCount;
    await renewLease(pool, lease, leaseMs);
    await run.count({ pages: 1, rows_read: rows, rows_expected: more });
  });
  const started = performance.now();
  const staged = await StagedAnswer.open(pool, { accountId: account.id });
  await staged.add(fetched);
  const counts = await record(work, account, { staged, balances });
  await staged.discard();
  await run.count({
    accounts_done: 1,
    added: counts.added,
    modified: counts.modified + counts.linked + counts.cleared,
    removed: counts.removed,
    linked: counts.linked,
    flagged: counts.flagged,
    record_ms: performance.now() - started,
  });
}

interface Read {
  staged: StagedAnswer;
  balances: Balances | undefined;
}

function record(
  { pool, owner, lease, run }: AccountWork,
  account: KnownAccount,
  { staged, balances }: Read,
): Promise<Counts> {
  return transaction(pool, async (tx) => {
    await assertLease(tx, lease);
    // Two connections may lead to one account; only the one it belongs to now writes, and one writer at a time.
    const { rows: owners } = await tx.query<{ connection_id: string }>(
      'select connection_id from accounts where id = $1 for update',
      [account.id],
    );
    if (owners[0]?.connection_id !== owner.id) return noCounts();
    const { customer_id: customerId, institution_id: institutionId, merchant_id: merchantId } = owner;
    return recordAnswer(
      tx,
      { customerId, accountId: account.id, syncRunId: run.id, institutionId, merchantId },
      { staged, window: { from: null, before: null }, balances },
    );
  });
}

/** Undefined where the institution has no such feature; any other failure is thrown: a balance is never made up. */
async function fetchBalances(
  client: AggregatorClient,
  { token, accountId }: { token: string; accountId: string },
): Promise<Balances | undefined> {
  try {
    return (await client.getAccountBalances(token, accountId)).data;
  } catch (error) {
    if (error instanceof ClientError && error.status === 424 && error.institutionStatus === undefined) return undefined;
    throw error;
  }
}
