import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { ClientError } from '#libs/client';
import { type Consent, problems } from '#libs/contract';
import { insistentTransaction, POOL } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import type { Scope } from '../auth/caller.js';
import { StopCause } from '../consents/consent-clocks.js';
import { noticeColumns } from '../consents/consent-probe.service.js';
import { ConsentTerms } from '../consents/consent-terms.service.js';
import { SyncSchedule } from '../sync/sync-schedule.js';
import { ConnectionStatus, isReadable, needsItsUser } from './connection-state.js';
import { lockConnection } from './connection-lock.js';
import { moveConnection, setColumns } from './connections.queries.js';

/** Two programs' clocks differ by less: a confirmation must not seem to lie ahead. */
const skewMs = 5_000;

interface Confirmed {
  id: string;
  institution_id: string;
  status: string;
  reason: string | null;
  consent_id: string | null;
  reconfirmable: boolean;
  reconfirm_by: Date | null;
}

/** Prolongs access by the customer's word to us, where the law lets that be enough. */
@Injectable()
export class ReconfirmationService {
  private readonly log = createLogger('consents');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly terms: ConsentTerms,
    private readonly schedule: SyncSchedule,
  ) {}

  /** Stores that the customer confirmed just now, and tells the aggregator; if it does not answer, the worker tells it later. */
  async confirm(scope: Scope, id: string): Promise<void> {
    const { consentId, institutionId } = await this.confirmable(scope, id);
    const confirmedAt = new Date(now().getTime() - skewMs);
    await this.pool.query('update connections set confirmed_at = $2 where id = $1 and consent_id = $3', [
      id,
      confirmedAt,
      consentId,
    ]);
    const application = await this.aggregator.of(scope.merchantId);
    try {
      const lastConfirmedAt = confirmedAt.toISOString();
      await this.take(id, institutionId, (await application.extendConsent(consentId, { lastConfirmedAt })).data);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      if (error.status === 400 || error.status === 404) {
        await this.pool.query('update connections set confirmed_at = null where id = $1', [id]);
        throw refused('The consent cannot be confirmed any more: renew the connection instead');
      }
      this.log.warn({ connectionId: id, status: error.status }, 'a confirmation waits for the aggregator');
      await this.pool.query('update connections set next_probe_at = $2 where id = $1', [id, now()]);
    }
  }

  private async confirmable(scope: Scope, id: string): Promise<{ consentId: string; institutionId: string }> {
    const { rows } = await this.pool.query<Confirmed>(
      `select id, institution_id, status, reason, consent_id, reconfirmable, reconfirm_by from connections
       where id = $1 and customer_id = $2`,
      [id, scope.customerId],
    );
    const found = rows[0];
    if (!found) throw problems.notFound({ message: 'The connection is not known' });
    const { status, reason, consent_id: consentId, institution_id: institutionId } = found;
    if (!found.reconfirmable || found.reconfirm_by === null) {
      throw refused('This institution asks its customer itself: renew the connection instead');
    }
    const waits = needsItsUser(status) && reason === StopCause.reconfirmation;
    if (consentId === null || !(isReadable(status) || waits)) {
      throw refused(`A connection that is ${status} cannot be confirmed: renew it instead`);
    }
    return { consentId, institutionId };
  }

  /** The new clock, and, for a connection that had stopped for want of it, the way back. */
  private async take(id: string, institutionId: string, consent: Consent): Promise<void> {
    const terms = await this.terms.of(institutionId, consent);
    const at = now();
    const isBack = await insistentTransaction(this.pool, async (tx) => {
      const locked = await lockConnection(tx, id);
      if (!locked || locked.consent_id !== consent.id) return false;
      const columns = { ...terms, ...(await noticeColumns(tx, id, terms.stops_at)) };
      if (isReadable(locked.status)) await setColumns(tx, id, columns);
      if (!needsItsUser(locked.status)) return false;
      return moveConnection(tx, { id, to: ConnectionStatus.active, columns: { ...columns, next_sync_at: at } });
    });
    if (isBack) await this.schedule.soon(id);
  }
}

function refused(message: string): Error {
  return problems.conflict({ message });
}
