import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Account } from '#libs/contract';
import { now } from '#libs/server';
import { ConnectionStatus } from '../connections/connection-state.js';
import { identificationHashes, nameOf } from './account-identity.js';
import { storable } from './served-text.js';

/** The connection through which accounts are seen. */
export interface AccountsOwner {
  id: string;
  customer_id: string;
  institution_id: string;
  merchant_id: string;
}

/** An account under our id and under the one that the aggregator knows it by now. */
export interface KnownAccount {
  id: string;
  aggregatorAccountId: string;
}

/**
 * Stores the accounts of one answer. An account that was seen before, also under an earlier consent, keeps its id and now
 * belongs to this connection, unless one that was authorised later has it: two consents of one login do not take turns.
 * Accounts that are no longer shown stay as they are.
 */
export async function recordAccounts(
  pool: Pool,
  owner: AccountsOwner,
  accounts: readonly Account[],
): Promise<KnownAccount[]> {
  const hashes = identificationHashes({ customerId: owner.customer_id, institutionId: owner.institution_id }, accounts);
  const { rows } = await pool.query<{ id: string; aggregator_account_id: string }>(
    `insert into accounts (id, customer_id, connection_id, institution_id, identification_hash, aggregator_account_id,
       type, currency, name, wire, created_at)
     select u.id, $1, $2, $3, u.hash, u.aggregator_id, u.type, u.currency, u.name, u.wire, $4
     from unnest($5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[])
       as u(id, hash, aggregator_id, type, currency, name, wire)
     on conflict (customer_id, identification_hash) do update set connection_id = excluded.connection_id,
       aggregator_account_id = excluded.aggregator_account_id, type = excluded.type, currency = excluded.currency,
       name = excluded.name, wire = excluded.wire
     where accounts.connection_id = excluded.connection_id or not exists (
       select 1 from connections holder, connections reader where holder.id = accounts.connection_id and reader.id = $2
         and holder.status = $12 and holder.authorised_at > reader.authorised_at)
     returning id, aggregator_account_id`,
    [
      owner.customer_id,
      owner.id,
      owner.institution_id,
      now(),
      accounts.map(() => randomUUID()),
      hashes,
      accounts.map(({ id }) => id),
      accounts.map(({ accountType, type }) => accountType ?? type ?? null),
      accounts.map(({ currency }) => currency ?? null),
      accounts.map((account) => storable(nameOf(account) ?? null)),
      accounts.map((account) => JSON.stringify(account)),
      ConnectionStatus.active,
    ],
  );
  return rows.map(({ id, aggregator_account_id: aggregatorAccountId }) => ({ id, aggregatorAccountId }));
}
