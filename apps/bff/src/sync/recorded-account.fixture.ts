import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Balances, Transaction } from '#libs/contract';
import { transaction } from '#libs/database';
import type { Window } from './coverage.js';
import { type Outcome, recordAnswer } from './record-answer.js';
import { StagedAnswer } from './staged-answer.js';

/** An account in the database, with the rows above it. */
export interface RecordedAccount {
  merchantId: string;
  customerId: string;
  accountId: string;
  institutionId: string;
}

/** Of a merchant and an institution of its own. */
export async function newAccount(pool: Pool, type: string | null = null): Promise<RecordedAccount> {
  const [merchantId, customerId, connectionId, accountId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const institutionId = `bank-${accountId}`;
  await pool.query(
    `insert into merchants (id, name, merchant_category_code, ppc_user_group, is_contract_present, status, created_at)
     values ($1, 'Shop', '5411', 'TAX', false, 'active', now())`,
    [merchantId],
  );
  await pool.query(`insert into customers (id, merchant_id, reference, created_at) values ($1, $2, 'c', now())`, [
    customerId,
    merchantId,
  ]);
  await pool.query(
    `insert into connections (id, customer_id, merchant_id, institution_id, status, created_at) values ($1, $2, $3, $4, 'active', now())`,
    [connectionId, customerId, merchantId, institutionId],
  );
  await pool.query(
    `insert into accounts (id, customer_id, connection_id, institution_id, identification_hash, aggregator_account_id, wire, created_at, type)
     values ($1, $2, $3, $4, 'hash', 'acc', '{}', now(), $5)`,
    [accountId, customerId, connectionId, institutionId, type],
  );
  return { merchantId, customerId, accountId, institutionId };
}

interface Asked {
  window?: Window;
  balances?: Balances;
  balancesAt?: Date;
  partSize?: number;
}

/** One synchronisation of the account with this answer of the bank. */
export async function take(
  pool: Pool,
  account: RecordedAccount,
  answer: readonly Transaction[],
  asked?: Asked,
): Promise<Outcome> {
  const staged = await StagedAnswer.open(pool, account);
  await staged.add(answer);
  return record(pool, account, staged, asked);
}

/** Records what was put aside. */
export async function record(
  pool: Pool,
  account: RecordedAccount,
  staged: StagedAnswer,
  { window = { from: null, before: null }, balances, balancesAt, partSize }: Asked = {},
): Promise<Outcome> {
  const recorded = { ...account, syncRunId: randomUUID() };
  const outcome = await transaction(pool, (tx) =>
    recordAnswer(tx, recorded, { staged, window, balances, balancesAt, partSize }),
  );
  await staged.discard();
  return outcome;
}
