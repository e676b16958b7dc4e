import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { AggregatorClient } from '#libs/client';
import {
  acquireLease,
  assertLease,
  type Lease,
  LeaseLostError,
  POOL,
  releaseLease,
  SecretBox,
  transaction,
} from '#libs/database';
import type { Account, PsuHeaders } from '#libs/contract';
import { now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { type LockedConnection, lockConnection, lockConnectionsAt } from '../connections/connection-lock.js';
import { isReadable } from '../connections/connection-state.js';
import { lockAccounts } from './account-join.js';
import { scheduleAccounts } from './account-schedule.js';
import { jitterOf, nextPossibleAt, nextRetryAt, SyncScope, waitAfterRefusal } from './call-budget.js';
import { blockCalls, enterCall, NotDueYet, readBudget, strikeCall, type Subject } from './call-ledger.js';
import { institutionAnswered, passCircuit } from './institution-circuit.js';
import { lineageOf } from './institution-lineage.js';
import { openPsu } from './attendance.js';
import { recordAccounts } from './record-accounts.js';
import type { SyncFault } from './sync-fault.js';
import { SyncFaults } from './sync-faults.service.js';
import { endRun, endRunWhenDone, noteUnread, openRun, type OpenRun, SyncRunStatus, type Unread } from './sync-run.js';

interface SyncedConnection {
  id: string;
  customer_id: string;
  merchant_id: string;
  institution_id: string;
  status: string;
  consent_id: string | null;
  sealed_consent_token: string | null;
  next_sync_at: Date | null;
  sync_failures: number;
}

/** Longer than any one call to the aggregator, so a crashed worker is replaced soon. */
const leaseMs = 45_000;
/** New accounts and ones that are gone are noticed within a day; what is in them is not waited for so long. */
const listEveryMs = 24 * 3_600_000;

/** Reads which accounts a connection shows, and puts them on the schedule. */
@Injectable()
export class SyncService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly secrets: SecretBox,
    private readonly faults: SyncFaults,
  ) {}

  /**
   * Reads the list of accounts of a connection that is due; answers the accounts that are to be read now. Does nothing when it
   * is not due, or while another worker is at it.
   */
  async run(connectionId: string): Promise<string[]> {
    const lease = await acquireLease(this.pool, { resource: `connection:${connectionId}`, ttlMs: leaseMs });
    if (!lease) return [];
    try {
      const { rows } = await this.pool.query<SyncedConnection>('select * from connections where id = $1', [
        connectionId,
      ]);
      const connection = rows[0];
      if (!connection || !isReadable(connection.status) || connection.sealed_consent_token === null) return [];
      if (connection.next_sync_at === null || connection.next_sync_at > now()) return [];
      const passage = await passCircuit(this.pool, connection.institution_id);
      if (passage.open) return await this.list(connection, connection.sealed_consent_token, lease);
      await this.tellOutage(connectionId);
      const { comeBackAt: dueAt } = passage;
      await this.postpone(connection, { problem: 'institution-outage', possibleAt: dueAt, dueAt });
      return [];
    } finally {
      await releaseLease(this.pool, lease);
    }
  }

  private async list(connection: SyncedConnection, sealedToken: string, lease: Lease): Promise<string[]> {
    const run = await transaction(this.pool, (tx) => openRun(tx, connection.id));
    if (!run) return [];
    const client = await this.aggregator.of(connection.merchant_id);
    const subject = { id: connection.id, connectionId: connection.id, institutionId: connection.institution_id };
    let entered: Date | undefined;
    try {
      if (!run.attended) entered = await enterCall(this.pool, subject, SyncScope.accounts);
      const token = this.secrets.open(sealedToken, `connection:${connection.id}:consent-token`);
      const { data } = await client.getAccounts(token, this.psuOf(run));
      await institutionAnswered(this.pool, connection.institution_id);
      return await this.record(connection, { run, lease, accounts: data });
    } catch (error) {
      if (error instanceof LeaseLostError) return [];
      if (error instanceof NotDueYet) await this.wait(connection, error.possibleAt);
      else await this.fail(connection, client, { subject, entered, run, error });
      return [];
    }
  }

  /** Opens the run that ends with the outage, unless the last one did: it is told once, not at every try. */
  private async tellOutage(connectionId: string): Promise<void> {
    const { rows } = await this.pool.query<{ problem: string | null }>(
      'select problem from sync_runs where connection_id = $1 order by started_at desc limit 1',
      [connectionId],
    );
    if (rows[0]?.problem !== 'institution-outage') await transaction(this.pool, (tx) => openRun(tx, connectionId));
  }

  private psuOf(run: OpenRun): PsuHeaders | undefined {
    return run.sealedPsu === null ? undefined : openPsu(this.secrets, run.id, run.sealedPsu);
  }

  /** Accounts and schedule change at once, and those of a consent that is not in use any more not at all. */
  private record(
    connection: SyncedConnection,
    { run, lease, accounts }: { run: OpenRun & { isNew: boolean }; lease: Lease; accounts: readonly Account[] },
  ): Promise<string[]> {
    const { id: connectionId, customer_id: customerId, institution_id: institutionId } = connection;
    const next = new Date(now().getTime() + listEveryMs * (1 + 0.04 * jitterOf(connection.id)));
    return transaction(this.pool, async (tx) => {
      await assertLease(tx, lease);
      await lockAccounts(tx, customerId);
      const lineage = await lineageOf(tx, institutionId);
      const locked = await lockConnectionsAt(tx, { customerId, institutionIds: lineage });
      if (!isAsRead(connection, locked.get(connectionId))) return [];
      const known = await recordAccounts(tx, { ...connection, lineage }, accounts);
      await tx.query('update connections set next_sync_at = $2, sync_failures = 0 where id = $1', [connectionId, next]);
      await noteUnread(tx, run.id, {});
      const ids = await scheduleAccounts(tx, { connectionId, runId: run.id }, known);
      // A list that is read while no account is due is not worth an entry of its own.
      if (ids.length === 0 && run.isNew && known.length > 0)
        await tx.query('delete from sync_runs where id = $1', [run.id]);
      else await endRunWhenDone(tx, run.id);
      return ids;
    });
  }

  private async fail(
    connection: SyncedConnection,
    client: AggregatorClient,
    what: { subject: Subject; entered: Date | undefined; run: OpenRun; error: unknown },
  ): Promise<void> {
    const { subject, entered, error } = what;
    const fault = await this.faults.classify(error, connection);
    if (entered && fault.isUncounted) await strikeCall(this.pool, subject, SyncScope.accounts, entered);
    if (await this.faults.needsUser(connection, client, fault)) return;
    if (fault.verdict === 'not-due-yet') {
      const until = new Date(now().getTime() + waitAfterRefusal(fault.retryAfterSeconds) * 1000);
      await blockCalls(this.pool, subject, SyncScope.accounts, until);
      return this.wait(connection, until);
    }
    await this.retry(connection, subject, fault);
  }

  private wait(connection: SyncedConnection, until: Date): Promise<void> {
    return this.postpone(connection, { problem: 'not-due-yet', possibleAt: until, dueAt: until });
  }

  private async retry(connection: SyncedConnection, subject: Subject, fault: SyncFault): Promise<void> {
    const failures = connection.sync_failures + 1;
    const budget = await readBudget(this.pool, subject, SyncScope.accounts);
    const dueAt = nextRetryAt(budget, now(), failures, fault.retryAfterSeconds);
    const unread = { problem: fault.problem, possibleAt: nextPossibleAt(budget, now()), dueAt };
    await this.postpone({ ...connection, sync_failures: failures }, unread);
  }

  /** The list is read later. A run without accounts is over with that; one that has some goes on with them. */
  private async postpone(connection: SyncedConnection, unread: Omit<Unread, 'scopes'>): Promise<void> {
    await transaction(this.pool, async (tx) => {
      if (!isAsRead(connection, await lockConnection(tx, connection.id))) return;
      await tx.query('update connections set next_sync_at = $2, sync_failures = $3 where id = $1', [
        connection.id,
        unread.dueAt,
        connection.sync_failures,
      ]);
      const { rows } = await tx.query<{ id: string; isEmpty: boolean }>(
        `select id, not exists (select 1 from account_schedules where run_id = r.id) as "isEmpty"
         from sync_runs r where connection_id = $1 and status = $2`,
        [connection.id, SyncRunStatus.running],
      );
      for (const { id, isEmpty } of rows) {
        await noteUnread(tx, id, { unread: { ...unread, scopes: [SyncScope.accounts] } });
        if (isEmpty) await endRun(tx, id, SyncRunStatus.failed, unread.problem);
      }
    });
  }
}

/** Whether the connection is in the state, and has the consent, with which the list was asked for. */
function isAsRead({ status, consent_id: consentId }: SyncedConnection, locked: LockedConnection | undefined): boolean {
  return locked?.status === status && locked.consent_id === consentId;
}
