import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { type Account, type Balances, problems } from '#libs/contract';
import { POOL } from '#libs/database';
import type { Scope } from '../auth/caller.js';
import { selectAccountStatuses } from '../sync/sync-run.queries.js';
import type { AccountView } from './account.dto.js';

interface AccountRow {
  id: string;
  connection_id: string;
  institution_id: string;
  name: string | null;
  currency: string | null;
  wire: string;
  balances: string | null;
  balances_at: Date | null;
  last_synced_at: Date | null;
}

/** What was synced of a customer's accounts. */
@Injectable()
export class AccountsService {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  async list(scope: Scope): Promise<AccountView[]> {
    return this.views(await this.select(scope, null));
  }

  async get(scope: Scope, id: string): Promise<AccountView> {
    const [view] = await this.views(await this.select(scope, id));
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

  private async select({ customerId }: Scope, id: string | null): Promise<AccountRow[]> {
    const { rows } = await this.pool.query<AccountRow>(
      `select id, connection_id, institution_id, name, currency, wire, balances, balances_at, last_synced_at
       from accounts where customer_id = $1 and ($2::uuid is null or id = $2) order by created_at, id limit 500`,
      [customerId, id],
    );
    return rows;
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
  };
}

/** Absent members are left out, never sent as null. */
function present<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
