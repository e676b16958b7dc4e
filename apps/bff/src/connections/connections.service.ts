import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { ClientError } from '#libs/client';
import { problems, type PsuHeaders } from '#libs/contract';
import { insistentTransaction, POOL, transaction } from '#libs/database';
import { now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { refusalOf } from '../aggregator/refusal.js';
import type { Scope } from '../auth/caller.js';
import { newCallbackState } from '../callbacks/callback-state.js';
import { Env, isProduction } from '../config.js';
import { retire } from '../consents/withdrawals.queries.js';
import type { ListQuery } from '../list.dto.js';
import { allowedReturnUrl, listConnections, moveConnection, selectConnection } from './connections.queries.js';
import type { ConnectionList, ConnectionView, NewConnection } from './connection.dto.js';
import { askedConsent } from './asked-consent.js';
import { lockConnection } from './connection-lock.js';
import { ConnectionStatus, isRevocable } from './connection-state.js';
import { replaceOpenRenewals } from './renewals.queries.js';

const gone = (): Error => problems.notFound({ message: 'The connection is not known' });

/** What is asked for, by which customer, if they are present, and the id of this work, if it is to have one. */
interface Wanted extends NewConnection {
  psu: PsuHeaders | undefined;
  workId: string | undefined;
}

/** A customer's connections to institutions. */
@Injectable()
export class ConnectionsService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** Asks for the customer's consent; the answer says where to send the browser. The same work taken up again makes no second one. */
  async connect(scope: Scope, { psu, workId, ...wanted }: Wanted): Promise<ConnectionView> {
    const production = isProduction(this.env);
    const returnUrl = await allowedReturnUrl(this.pool, scope.merchantId, { wanted: wanted.returnUrl, production });
    const { state, hash } = newCallbackState();
    const id = workId ?? randomUUID();
    const createdAt = now();
    const { rows } = await this.pool.query<{ status: string }>(
      `insert into connections (id, customer_id, merchant_id, institution_id, status, health, state_hash, return_url, created_at, sync_failures)
       values ($1, $2, $3, $4, $5, 'unknown', $6, $7, $8, 0)
       on conflict (id) do update set state_hash = case when connections.status = $5 then $6 else connections.state_hash end
       returning status`,
      [
        id,
        scope.customerId,
        scope.merchantId,
        wanted.institutionId,
        ConnectionStatus.preparing,
        hash,
        returnUrl ?? null,
        createdAt,
      ],
    );
    if (rows[0]?.status !== ConnectionStatus.preparing) return this.get(scope, id);
    try {
      const application = await this.aggregator.of(scope.merchantId);
      const request = {
        applicationUserId: scope.customerId,
        institutionId: wanted.institutionId,
        callback: `${this.env.BFF_URL}/v1/connections/callback?state=${state}`,
        oneTimeToken: true,
      };
      const consent = askedConsent((await application.initiateAccountRequest(request, psu)).data);
      const columns = {
        consent_id: consent.id,
        authorisation_url: consent.authorisationUrl,
        next_sync_at: new Date(now().getTime() + consent.lookMs),
      };
      await transaction(this.pool, (tx) =>
        moveConnection(tx, { id, to: ConnectionStatus.awaitingAuthorisation, columns }),
      );
    } catch (error) {
      // Nobody has seen the address, so nothing can come of what may have been made at the aggregator.
      await this.pool.query('delete from connections where id = $1', [id]);
      throw refusalOf(error, { '$.institutionId': '$.institutionId', institutionId: '$.institutionId' });
    }
    return this.get(scope, id);
  }

  list(scope: Scope, query: ListQuery): Promise<ConnectionList> {
    return listConnections(this.pool, scope, query);
  }

  async get(scope: Scope, id: string): Promise<ConnectionView> {
    const found = await selectConnection(this.pool, scope, id);
    if (!found) throw gone();
    return found;
  }

  /**
   * Withdraws the consent at the aggregator, and so at the bank, and then here. A bank that refuses now is asked again until
   * it accepts. What was synced stays.
   */
  async revoke(scope: Scope, id: string): Promise<ConnectionView> {
    const found = await this.get(scope, id);
    if (!isRevocable(found.status)) return found;
    const { rows } = await this.pool.query<{ consent_id: string | null }>(
      'select consent_id from connections where id = $1',
      [id],
    );
    const asked = rows[0]?.consent_id ?? null;
    const isGone = asked === null || (await this.withdraw(scope.merchantId, asked));
    await insistentTransaction(this.pool, async (tx) => {
      // Another consent may have taken its place meanwhile.
      const consentId = (await lockConnection(tx, id))?.consent_id ?? null;
      const columns = { sealed_consent_token: null, next_sync_at: null, next_probe_at: null };
      const move = { id, to: ConnectionStatus.revoked, reason: 'revoked-by-customer', columns };
      if (!(await moveConnection(tx, move))) return;
      await replaceOpenRenewals(tx, { connectionId: id, ownConsentId: consentId, reason: 'connection-ended' });
      if (consentId === null || (isGone && consentId === asked)) return;
      const { merchantId } = scope;
      await retire(tx, { merchantId, connectionId: id, consentId, reason: 'revoked-by-customer' });
    });
    return this.get(scope, id);
  }

  /** False when the institution refuses for now. */
  private async withdraw(merchantId: string, consentId: string): Promise<boolean> {
    const application = await this.aggregator.of(merchantId);
    try {
      return (await application.delete(consentId, { forceDelete: false })).data.deleteStatus !== 'FAILED';
    } catch (error) {
      if (error instanceof ClientError && error.status === 404) return true;
      if (error instanceof ClientError && error.status === 424) return false;
      throw refusalOf(error);
    }
  }
}
