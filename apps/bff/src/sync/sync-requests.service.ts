import { Inject, Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { Problem, problems, type PsuHeaders } from '#libs/contract';
import { insistentTransaction, POOL, SecretBox } from '#libs/database';
import { now } from '#libs/server';
import type { Scope } from '../auth/caller.js';
import { lockConnection } from '../connections/connection-lock.js';
import { isReadable } from '../connections/connection-state.js';
import { joinRun } from './account-schedule.js';
import { sealPsu } from './attendance.js';
import { SyncSchedule } from './sync-schedule.js';
import { currentRun, openRun } from './sync-run.js';
import type { SyncRunView } from './sync-run.dto.js';
import { selectAccountStatuses, selectRuns } from './sync-run.queries.js';

const gone = (): Error => problems.notFound({ message: 'The connection is not known' });

/** Synchronisations that a merchant or a customer asks for. */
@Injectable()
export class SyncRequests {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: SecretBox,
    private readonly schedule: SyncSchedule,
  ) {}

  /**
   * Reads a connection now, from whatever state its accounts are in. `psu` says that the customer is present; without it the
   * calls count, and when none is left the answer says when the next is possible. While a run is under way it is that one.
   */
  async request(scope: Scope, connectionId: string, psu: PsuHeaders | undefined): Promise<SyncRunView> {
    const seal = psu && ((runId: string) => sealPsu(this.secrets, runId, psu));
    await this.refuseWhatCannotBe(scope, connectionId, psu !== undefined);
    const { runId, accounts } = await insistentTransaction(this.pool, (tx) => this.begin(tx, connectionId, seal));
    if (accounts === undefined) await this.schedule.soon(connectionId);
    else await this.schedule.accounts(accounts, { first: true });
    return this.view(runId);
  }

  /** A run of one of the customer's connections. */
  async get(scope: Scope, { connectionId, runId }: { connectionId: string; runId: string }): Promise<SyncRunView> {
    const { rows } = await this.pool.query(
      `select 1 from sync_runs r join connections c on c.id = r.connection_id
       where r.id = $1 and c.id = $2 and c.customer_id = $3`,
      [runId, connectionId, scope.customerId],
    );
    if (rows.length === 0) throw problems.notFound({ message: 'The synchronisation is not known' });
    return this.view(runId);
  }

  private async view(runId: string): Promise<SyncRunView> {
    const [view] = await selectRuns(this.pool, [runId]);
    if (!view) throw problems.notFound({ message: 'The synchronisation is not known' });
    return view;
  }

  private async refuseWhatCannotBe({ customerId }: Scope, connectionId: string, attended: boolean): Promise<void> {
    const { rows } = await this.pool.query<{ status: string; accounts: string[] }>(
      `select status, array(select account_id from account_schedules where connection_id = c.id and due_at is not null) as accounts
       from connections c where id = $1 and customer_id = $2`,
      [connectionId, customerId],
    );
    const connection = rows[0];
    if (!connection) throw gone();
    refuseUnreadable(connection.status);
    if (attended || connection.accounts.length === 0 || (await currentRun(this.pool, connectionId))) return;
    const statuses = await selectAccountStatuses(this.pool, connection.accounts);
    const possible = Math.min(...[...statuses.values()].map(({ nextPossibleAt }) => Date.parse(nextPossibleAt)));
    if (possible > now().getTime()) throw notDueYet(new Date(possible));
  }

  /** Answers the run, and the accounts to read; none are known before the list was read. */
  private async begin(
    tx: PoolClient,
    connectionId: string,
    seal: ((runId: string) => string) | undefined,
  ): Promise<{ runId: string; accounts: string[] | undefined }> {
    // It may have ended since it was looked at.
    refuseUnreadable((await lockConnection(tx, connectionId))?.status);
    const run = await openRun(tx, connectionId, seal);
    if (!run) throw gone();
    if (!run.isNew) return { runId: run.id, accounts: [] };
    const accounts = await joinRun(tx, { connectionId, runId: run.id });
    if (accounts.length > 0) return { runId: run.id, accounts };
    await tx.query('update connections set next_sync_at = $2 where id = $1', [connectionId, now()]);
    return { runId: run.id, accounts: undefined };
  }
}

function refuseUnreadable(status: string | undefined): void {
  if (status === undefined) throw gone();
  if (!isReadable(status))
    throw problems.conflict({ message: `The connection is ${status}: only an active one can be read` });
}

/** The institution's calls of the day are spent. `nextPossibleAt` stands in the text, `Retry-After` for machines. */
function notDueYet(possibleAt: Date): Problem {
  const seconds = Math.max(1, Math.ceil((possibleAt.getTime() - now().getTime()) / 1000));
  const message = `The institution allows the next call without the customer at ${possibleAt.toISOString()}`;
  const issues = [{ type: 'INVALID_REQUEST', code: 'NOT_DUE_YET', message }];
  return new Problem({ status: 429, issues, headers: { 'retry-after': String(seconds) } });
}
