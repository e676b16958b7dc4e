import { Inject, Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { POOL, transaction } from '#libs/database';
import { lockConnection } from '../connections/connection-lock.js';
import { ConnectionStatus, isRenewable } from '../connections/connection-state.js';
import { moveConnection } from '../connections/connections.queries.js';
import { replaceOpenRenewals } from '../connections/renewals.queries.js';
import { lineageOf } from '../sync/institution-lineage.js';
import { retire } from './withdrawals.queries.js';

interface Superseded {
  id: string;
  merchant_id: string;
}

/** Sees to it that a customer has one consent for a login at an institution, said aloud when a later one takes over. */
@Injectable()
export class Supersession {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /**
   * Ends the earlier connections of the same customer at the same institution, or at one of its lineage, all of whose accounts have
   * passed to this one: that is how a login shows. One that keeps an account of its own is another login, or another choice, and
   * stays.
   */
  async run({ id: connectionId, institutionId }: { id: string; institutionId: string }): Promise<void> {
    const { rows } = await this.pool.query<Superseded>(
      `select old.id, old.merchant_id from connections new
       join connections old on old.customer_id = new.customer_id and old.institution_id = any($4)
       where new.id = $1 and new.status = $2 and new.last_synced_at > new.authorised_at and old.id <> new.id
         and old.status = any($3) and old.authorised_at < new.authorised_at
         and exists (select 1 from sync_runs where connection_id = old.id and accounts > 0)
         and exists (select 1 from accounts where connection_id = new.id)
         and not exists (select 1 from accounts where connection_id = old.id)`,
      [
        connectionId,
        ConnectionStatus.active,
        Object.values(ConnectionStatus).filter(isRenewable),
        await lineageOf(this.pool, institutionId),
      ],
    );
    for (const old of rows) await transaction(this.pool, (tx) => end(tx, old));
  }
}

async function end(tx: PoolClient, { id, merchant_id: merchantId }: Superseded): Promise<void> {
  const consentId = (await lockConnection(tx, id))?.consent_id ?? null;
  const columns = { sealed_consent_token: null, next_sync_at: null, next_probe_at: null };
  if (!(await moveConnection(tx, { id, to: ConnectionStatus.revoked, reason: 'superseded', consentId, columns })))
    return;
  await replaceOpenRenewals(tx, { connectionId: id, ownConsentId: consentId, reason: 'connection-ended' });
  if (consentId !== null) await retire(tx, { merchantId, connectionId: id, consentId, reason: 'superseded' });
}
