import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { type AggregatorClient, ClientError } from '#libs/client';
import { acquireLease, type Lease, LeaseLostError, POOL, releaseLease, SecretBox, transaction } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { ConnectionStatus, isReadable } from '../connections/connection-state.js';
import { moveConnection } from '../connections/connections.queries.js';
import { appendEvent } from '../events/event-log.js';
import { leaseMs, syncAccount } from './account-sync.js';
import { recordAccounts } from './record-accounts.js';
import { faultOf, IncompleteAnswer, isLapsed, nextSync, type SyncFault } from './sync-fault.js';
import { SyncRun, SyncRunStatus } from './sync-run.js';

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

/** Reads everything a connection shows and records it. */
@Injectable()
export class SyncService {
  private readonly log = createLogger('sync');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly secrets: SecretBox,
  ) {}

  /** Synchronises a connection that is due. Does nothing when it is not, or while another worker is at it. */
  async run(connectionId: string): Promise<void> {
    const lease = await acquireLease(this.pool, { resource: `connection:${connectionId}`, ttlMs: leaseMs });
    if (!lease) return;
    try {
      const { rows } = await this.pool.query<SyncedConnection>('select * from connections where id = $1', [
        connectionId,
      ]);
      const connection = rows[0];
      if (!connection || !isReadable(connection.status) || connection.sealed_consent_token === null) return;
      if (connection.next_sync_at === null || connection.next_sync_at > now()) return;
      await this.synchronise(connection, connection.sealed_consent_token, lease);
    } finally {
      await releaseLease(this.pool, lease);
    }
  }

  private async synchronise(connection: SyncedConnection, sealedToken: string, lease: Lease): Promise<void> {
    const run = await SyncRun.open(this.pool, connection.id);
    const client = await this.aggregator.of(connection.merchant_id);
    let fault: SyncFault | undefined;
    try {
      const token = this.secrets.open(sealedToken, `connection:${connection.id}:consent-token`);
      fault = await this.readAll({ connection, client, token, lease, run });
      await run.close(fault ? SyncRunStatus.incomplete : SyncRunStatus.completed, fault?.problem);
    } catch (error) {
      fault = this.classify(error, connection.id);
      await run.close(SyncRunStatus.failed, fault.problem);
      if (error instanceof LeaseLostError) return;
    }
    if (fault && (await this.needsUser(connection, client, fault))) return;
    await this.settle(connection, fault);
  }

  /** One account after the other, so that the fault of one is not the end of the rest; a proof against the consent is. */
  private async readAll(work: {
    connection: SyncedConnection;
    client: AggregatorClient;
    token: string;
    lease: Lease;
    run: SyncRun;
  }): Promise<SyncFault | undefined> {
    const { connection, client, token, lease, run } = work;
    const accounts = await recordAccounts(this.pool, connection, (await client.getAccounts(token)).data);
    await run.count({ accounts: accounts.length });
    let first: SyncFault | undefined;
    for (const account of accounts) {
      try {
        await syncAccount({ pool: this.pool, client, token, owner: connection, lease, run }, account);
      } catch (error) {
        if (!(error instanceof ClientError || error instanceof IncompleteAnswer)) throw error;
        const fault = this.classify(error, connection.id);
        if (fault.verdict === 'needs-user') throw error;
        first ??= fault;
      }
    }
    return first;
  }

  private classify(error: unknown, connectionId: string): SyncFault {
    if (error instanceof ClientError) {
      const { operation, status, institutionStatus } = error;
      const fault = faultOf(error);
      this.log.warn(
        { connectionId, operation, status, institutionStatus, problem: fault.problem },
        'a call of a synchronisation failed',
      );
      return fault;
    }
    if (error instanceof IncompleteAnswer) return { problem: 'incomplete-answer', verdict: 'retry' };
    if (error instanceof LeaseLostError) return { problem: 'taken-over', verdict: 'retry' };
    this.log.error({ err: error, connectionId }, 'a synchronisation broke');
    return { problem: 'internal', verdict: 'retry' };
  }

  /** Whether there is a proof that only the customer can help; then the connection is moved and not asked again. */
  private async needsUser(connection: SyncedConnection, client: AggregatorClient, fault: SyncFault): Promise<boolean> {
    if (fault.verdict === 'retry') return false;
    const proven = fault.verdict === 'needs-user' || (await this.hasLapsed(client, connection.consent_id));
    if (!proven) return false;
    const columns = { next_sync_at: null, health: 'degraded' };
    const { id, consent_id: consentId } = connection;
    const move = { id, to: ConnectionStatus.needsUser, reason: fault.problem, consentId, columns };
    await transaction(this.pool, (tx) => moveConnection(tx, move));
    return true;
  }

  private async hasLapsed(client: AggregatorClient, consentId: string | null): Promise<boolean> {
    if (consentId === null) return false;
    try {
      return isLapsed((await client.getConsentById(consentId)).data.status);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      // A consent that is not there any more is a proof; an aggregator that does not answer is none.
      return error.status === 404;
    }
  }

  /** Plans the next synchronisation and tells the merchant that this one is over. */
  private async settle(connection: SyncedConnection, fault: SyncFault | undefined): Promise<void> {
    const at = now();
    const failures = fault ? connection.sync_failures + 1 : 0;
    const next = nextSync(at, failures, fault?.retryAfterSeconds);
    await transaction(this.pool, async (tx) => {
      await tx.query(
        `update connections set health = $2, sync_failures = $3, next_sync_at = $4, last_synced_at = coalesce($5, last_synced_at)
         where id = $1 and status = $6`,
        [connection.id, fault ? 'degraded' : 'healthy', failures, next, fault ? null : at, ConnectionStatus.active],
      );
      await appendEvent(tx, {
        merchantId: connection.merchant_id,
        customerId: connection.customer_id,
        type: 'connection.synced',
        data: { connectionId: connection.id, problem: fault?.problem ?? null, nextSyncAt: next.toISOString() },
      });
    });
  }
}
