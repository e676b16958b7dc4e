import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { type AggregatorClient, ClientError } from '#libs/client';
import { LeaseLostError, POOL, transaction } from '#libs/database';
import { createLogger } from '#libs/server';
import { ConnectionStatus } from '../connections/connection-state.js';
import { moveConnection } from '../connections/connections.queries.js';
import { isBeingRenewed } from '../connections/renewals.queries.js';
import { institutionAnswered, institutionFailed } from './institution-circuit.js';
import { faultOf, IncompleteAnswer, isLapsed, meaningOf, type SyncFault } from './sync-fault.js';

/** Whom a fault concerns. */
export interface FaultyConnection {
  id: string;
  institution_id: string;
  consent_id: string | null;
}

/** Says what went wrong, and believes in the end of a consent only on a proof. */
@Injectable()
export class SyncFaults {
  private readonly log = createLogger('sync');

  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** The fault behind an error, which is logged here once. Counts for or against the institution. */
  async classify(error: unknown, connection: FaultyConnection): Promise<SyncFault> {
    const fault = this.named(error, connection.id);
    if (error instanceof ClientError) await this.weigh(error, fault, connection);
    return fault;
  }

  private named(error: unknown, connectionId: string): SyncFault {
    if (error instanceof ClientError) {
      const { operation, status, institutionStatus } = error;
      const fault = faultOf(error);
      const told = { connectionId, operation, status, institutionStatus, problem: fault.problem };
      if (fault.verdict !== 'not-due-yet') this.log.warn(told, 'a call of a synchronisation failed');
      return fault;
    }
    if (error instanceof IncompleteAnswer) return { problem: 'incomplete-answer', verdict: 'retry' };
    if (error instanceof LeaseLostError) return { problem: 'taken-over', verdict: 'retry' };
    this.log.error({ err: error, connectionId }, 'a synchronisation broke');
    return { problem: 'internal', verdict: 'retry' };
  }

  /** An institution that refuses is there; one that fails or stays silent is perhaps not. */
  private async weigh(
    error: ClientError,
    fault: SyncFault,
    { id, institution_id: at }: FaultyConnection,
  ): Promise<void> {
    if (meaningOf(fault.problem)?.isOutage) await institutionFailed(this.pool, at, id);
    else if (error.status === 424) await institutionAnswered(this.pool, at);
  }

  /**
   * Whether there is a proof that only the customer can help, and they are not at it already; then the connection is moved and not
   * asked again.
   */
  async needsUser(connection: FaultyConnection, client: AggregatorClient, fault: SyncFault): Promise<boolean> {
    if (fault.verdict !== 'needs-user' && fault.verdict !== 'check-consent') return false;
    const proven = fault.verdict === 'needs-user' || (await this.hasLapsed(client, connection.consent_id));
    if (!proven) return false;
    // A bank may end a consent the moment its customer gives the next one, and we hear of that one a little later.
    if (await isBeingRenewed(this.pool, connection.id)) return false;
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
}
