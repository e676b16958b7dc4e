import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { Account } from '#libs/contract';
import { hashToken } from '#libs/database';
import { now } from '#libs/server';
import { ConnectionStatus } from '../connections/connection-state.js';
import { appendEvent } from '../events/event-log.js';
import { type Alias, aliasesOf, isProof } from './account-aliases.js';
import { identificationHashes, nameOf } from './account-identity.js';
import { type KnownIdentity, type Resolution, resolveAccounts } from './account-resolution.js';
import { storable } from './served-text.js';

/** The connection through which accounts are seen. */
export interface AccountsOwner {
  id: string;
  customer_id: string;
  institution_id: string;
  merchant_id: string;
  /** The institution, those that it has succeeded and those that have succeeded it. */
  lineage: readonly string[];
}

/** An account under our id and under the one that the aggregator knows it by now. */
export interface KnownAccount {
  id: string;
  aggregatorAccountId: string;
}

/** An account of the list, with what it is known by and what came of that. */
interface Listed extends Resolution {
  id: string;
  hash: string;
  account: Account;
  aliases: Alias[];
  /** Whether it was last seen at another institution, of which this one is the successor. */
  isMoved: boolean;
}

/**
 * Stores the accounts of one answer. An account that was seen before, also under an earlier consent or by another number,
 * or at an institution that this one has succeeded, keeps its id and now belongs to this connection, unless one that was authorised later has it: two consents of one login do
 * not take turns. Accounts that are no longer shown stay as they are. The merchant is told what was linked, and what may be.
 * In the caller's transaction, with the customer's connections to the institution locked.
 */
export async function recordAccounts(
  tx: PoolClient,
  owner: AccountsOwner,
  accounts: readonly Account[],
): Promise<KnownAccount[]> {
  const listed = await resolve(tx, owner, accounts);
  const stored = await store(tx, owner, listed);
  await storeAliases(tx, owner, listed);
  const taken = new Set(stored.map(({ id }) => id));
  for (const each of listed) await tell(tx, owner, { ...each, isMoved: each.isMoved && taken.has(each.id) });
  return stored;
}

async function resolve(tx: PoolClient, owner: AccountsOwner, accounts: readonly Account[]): Promise<Listed[]> {
  const whose = { customerId: owner.customer_id, institutionId: owner.institution_id };
  const known = await readKnown(tx, owner);
  const hashes = identificationHashes(whose, accounts);
  const shown = accounts.map((account, index) => ({
    hash: hashes[index] ?? '',
    currency: account.currency ?? null,
    type: account.accountType ?? account.type ?? null,
    aliases: [...aliasesOf(whose, account), ...formerAliases(owner, account)],
    account,
  }));
  const taken = await takenOf(tx, owner, hashes);
  const resolutions = resolveAccounts(known, shown, { connectionId: owner.id });
  return shown.map(({ hash, ...each }, index): Listed => {
    const aliases = aliasesOf(whose, each.account);
    const resolution = resolutions[index] ?? { known: undefined, gained: [], isRenumbered: false, candidates: [] };
    const id = resolution.known?.id ?? randomUUID();
    // Two accounts that look the same to the letter stay two.
    const isMoved = known.some((one) => one.id === id && one.institutionId !== owner.institution_id);
    return {
      ...each,
      ...resolution,
      aliases,
      isMoved,
      id,
      hash: taken.has(hash) ? hashToken(`${hash}.${id}`, owner.customer_id) : hash,
    };
  });
}

/** What the account was called at institutions of the same lineage: its numbers, as ids are each institution's own. */
function formerAliases(
  { customer_id: customerId, institution_id: own, lineage }: AccountsOwner,
  account: Account,
): Alias[] {
  const others = lineage.filter((institutionId) => institutionId !== own);
  return others
    .flatMap((institutionId) => aliasesOf({ customerId, institutionId }, account))
    .filter(({ kind }) => isProof(kind));
}

/** Of these, the ones that accounts of the customer have, also one that a person has said is read at another institution now. */
async function takenOf(tx: PoolClient, owner: AccountsOwner, hashes: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ hash: string }>(
    'select identification_hash as hash from accounts where customer_id = $1 and identification_hash = any($2)',
    [owner.customer_id, hashes],
  );
  return new Set(rows.map(({ hash }) => hash));
}

/** With what they were called last, also where that was before aliases were kept. */
async function readKnown(tx: PoolClient, owner: AccountsOwner): Promise<(KnownIdentity & { institutionId: string })[]> {
  const { rows } = await tx.query<{
    id: string;
    currency: string | null;
    type: string | null;
    connection_id: string;
    institution_id: string;
    is_read: boolean;
    wire: string;
    aliases: Alias[];
  }>(
    `select a.id, a.currency, a.type, a.connection_id, a.institution_id, c.status = $3 as is_read, a.wire,
       coalesce((select json_agg(json_build_object('kind', kind, 'hash', hash)) from account_aliases where account_id = a.id), '[]') as aliases
     from accounts a join connections c on c.id = a.connection_id where a.customer_id = $1 and a.institution_id = any($2)`,
    [owner.customer_id, owner.lineage, ConnectionStatus.active],
  );
  return rows.map(({ connection_id: connectionId, institution_id: institutionId, is_read: isRead, ...row }) => {
    const { id, currency, type, aliases, wire } = row;
    const last = aliasesOf({ customerId: owner.customer_id, institutionId }, JSON.parse(wire) as Account);
    return { id, currency, type, institutionId, connectionId, isRead, aliases: [...aliases, ...last] };
  });
}

async function store(tx: PoolClient, owner: AccountsOwner, listed: readonly Listed[]): Promise<KnownAccount[]> {
  const { rows } = await tx.query<{ id: string; aggregator_account_id: string }>(
    `insert into accounts (id, customer_id, connection_id, institution_id, identification_hash, aggregator_account_id,
       type, currency, name, wire, created_at)
     select u.id, $1, $2, $3, u.hash, u.aggregator_id, u.type, u.currency, u.name, u.wire, $4
     from unnest($5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[])
       as u(id, hash, aggregator_id, type, currency, name, wire)
     on conflict (id) do update set connection_id = excluded.connection_id, institution_id = excluded.institution_id,
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
      listed.map(({ id }) => id),
      listed.map(({ hash }) => hash),
      listed.map(({ account }) => account.id),
      listed.map(({ account: { accountType, type } }) => accountType ?? type ?? null),
      listed.map(({ account }) => account.currency ?? null),
      listed.map(({ account }) => storable(nameOf(account) ?? null)),
      listed.map(({ account }) => JSON.stringify(account)),
      ConnectionStatus.active,
    ],
  );
  return rows.map(({ id, aggregator_account_id: aggregatorAccountId }) => ({ id, aggregatorAccountId }));
}

async function storeAliases(tx: PoolClient, owner: AccountsOwner, listed: readonly Listed[]): Promise<void> {
  const lines = listed.flatMap(({ id, aliases }) => aliases.map(({ kind, hash }) => ({ id, kind, hash })));
  await tx.query(
    `insert into account_aliases (customer_id, account_id, kind, hash, first_seen_at, last_seen_at)
     select $1, u.id, u.kind, u.hash, $2, $2 from unnest($3::uuid[], $4::text[], $5::text[]) as u(id, kind, hash)
     on conflict (customer_id, hash, account_id) do update set last_seen_at = excluded.last_seen_at`,
    [owner.customer_id, now(), lines.map(({ id }) => id), lines.map(({ kind }) => kind), lines.map(({ hash }) => hash)],
  );
}

/** A new institution is told before a new number, that before a new name, and what nobody has proven is told as that. */
async function tell(
  tx: PoolClient,
  { merchant_id: merchantId, customer_id: customerId }: AccountsOwner,
  { id: accountId, known, gained, isRenumbered, isMoved, candidates }: Listed,
): Promise<void> {
  const whose = { merchantId, customerId };
  if (isMoved)
    await appendEvent(tx, { ...whose, type: 'account.linked', data: { accountId, reason: 'successor-institution' } });
  else if (isRenumbered) await appendEvent(tx, { ...whose, type: 'account.renumbered', data: { accountId } });
  else if (known && gained.length > 0) {
    const reason = gained.every(({ kind }) => kind === 'ID') ? 'new-id' : 'new-identifier';
    await appendEvent(tx, { ...whose, type: 'account.linked', data: { accountId, reason } });
  } else if (candidates.length > 0)
    await appendEvent(tx, {
      ...whose,
      type: 'account.unresolved',
      data: { accountId, candidates: candidates.join(' ') },
    });
}
