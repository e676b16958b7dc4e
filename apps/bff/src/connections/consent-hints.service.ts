import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POOL } from '#libs/database';
import { ConsentProbe } from '../consents/consent-probe.service.js';
import { AuthorisationService, type Waiting } from './authorisation.service.js';
import { isWaiting } from './connection-state.js';
import { RenewalCompletion } from './renewal-completion.service.js';
import { openRenewalOf } from './renewals.queries.js';

/** Takes up an aggregator's word that a consent has changed. */
@Injectable()
export class ConsentHints {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly probe: ConsentProbe,
    private readonly authorisation: AuthorisationService,
    private readonly renewals: RenewalCompletion,
  ) {}

  /**
   * Looks at whatever the consent belongs to, whose state alone decides: the word is a hint. Answers the connection's id, or
   * undefined when no connection of the merchant has to do with the consent. Safe to call again.
   */
  async consentChanged(merchantId: string, consentId: string): Promise<string | undefined> {
    const renewal = await openRenewalOf(this.pool, consentId);
    if (renewal?.merchant_id === merchantId) {
      await this.renewals.lookAfter(renewal);
      return renewal.connection_id;
    }
    const { rows } = await this.pool.query<Waiting>(
      `select id, merchant_id, institution_id, status, consent_id, return_url, created_at from connections
       where consent_id = $1 and merchant_id = $2`,
      [consentId, merchantId],
    );
    const connection = rows[0];
    if (!connection) return undefined;
    if (isWaiting(connection.status)) await this.authorisation.lookAfter(connection);
    else await this.probe.run(connection.id, { isHinted: true });
    return connection.id;
  }
}
