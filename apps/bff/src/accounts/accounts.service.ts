import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { type Account, type Balances, problems } from '#libs/contract';
import { POOL } from '#libs/database';
import type { Scope } from '../auth/caller.js';
import { cutPage, readListCursor } from '../cursor.js';
import type { ListQuery } from '../list.dto.js';
import { selectAccountStatuses } from '../sync/sync-run.queries.js';
import type { AccountList, AccountView, BalanceProofView } from './account.dto.js';

interface AccountRow {
  id: string;
  connection_id: string;
  institution_id: string;
  created_at: Date;
  name: string | null;
  currency: string | null;
  wire: string;
  balances: string | null;
  balances_at: Date | null;
  last_synced_at: Date | null;
  checked_at: Date | null;
  difference: string | null;
  proof_currency: string | null;
  candidates: string | null;
}

const select = `select a.id, a.connection_id, a.institution_id, a.created_at, a.name, a.currency, a.wire, a.balances, a.balances_at,
    a.last_synced_at, p.checked_at, p.difference, p.currency as proof_currency, p.candidates
  from accounts a left join balance_proofs p on p.account_id = a.id`;

/** What was synced of a customer's accounts. */
@Injectable()
export class AccountsService {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** A page, the oldest first. */
  async list({ customerId }: Scope, { limit = 100, cursor }: ListQuery): Promise<AccountList> {
    const list = ['accounts', customerId];
    const after = cursor === undefined ? undefined : readListCursor(cursor, list);
    const { rows } = await this.pool.query<AccountRow>(
      `${select} where a.customer_id = $1 and ($2::timestamptz is null or (a.created_at, a.id) > ($2, $3::uuid))
       order by a.created_at, a.id limit $4`,
      [customerId, after?.date ?? null, after?.id ?? null, limit + 1],
    );
    const { page, more } = cutPage(rows, limit, { list, placeOf: ({ created_at: date, id }) => ({ date, id }) });
    return { data: await this.views(page), ...more };
  }

  async get({ customerId }: Scope, id: string): Promise<AccountView> {
    const text = `${select} where a.customer_id = $1 and a.id = $2`;
    const { rows } = await this.pool.query<AccountRow>(text, [customerId, id]);
    const [view] = await this.views(rows);
    if (!view) throw problems.notFound({ message: 'The account is not known' });
    return view;
  }

  private async views(rows: readonly AccountRow[]): Promise<AccountView[]> {
    const statuses = await selectAccountStatuses(
      this.pool,
      rows.map(({ id }) => id),
    );
    return rows.map((row) => ({ ...toView(row), ...present({ sync: statuses.get(row.id) }) }));
  }
}

/** The stored texts are our own, written by the sync from the interface's classes. */
function toView(row: AccountRow): AccountView {
  const { accountType, usageType, accountNames, accountIdentifications } = JSON.parse(row.wire) as Account;
  const { mainBalanceAmount, balances } = row.balances === null ? {} : (JSON.parse(row.balances) as Balances);
  return {
    id: row.id,
    connectionId: row.connection_id,
    institutionId: row.institution_id,
    ...present({ accountType, usageType, accountNames, accountIdentifications, balances }),
    ...present({ mainBalance: mainBalanceAmount, currency: row.currency ?? undefined, name: row.name ?? undefined }),
    ...present({ balancesAt: row.balances_at?.toISOString(), lastSyncedAt: row.last_synced_at?.toISOString() }),
    ...present({ balanceProof: proofOf(row) }),
  };
}

function proofOf({ checked_at, difference, proof_currency, candidates }: AccountRow): BalanceProofView | undefined {
  if (checked_at === null || difference === null || proof_currency === null || candidates === null) return undefined;
  return {
    checkedAt: checked_at.toISOString(),
    difference: Number(difference),
    currency: proof_currency,
    candidates: JSON.parse(candidates) as string[],
  };
}

/** Absent members are left out, never sent as null. */
function present<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
