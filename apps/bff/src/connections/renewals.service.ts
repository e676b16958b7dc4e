import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { ClientError } from '#libs/client';
import { type AccountAuthorisationResponse, problems, type PsuHeaders } from '#libs/contract';
import { insistentTransaction, POOL, SecretBox } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { refusalOf } from '../aggregator/refusal.js';
import type { Scope } from '../auth/caller.js';
import { newCallbackState } from '../callbacks/callback-state.js';
import { Env, isProduction } from '../config.js';
import { retire } from '../consents/withdrawals.queries.js';
import type { ListQuery } from '../list.dto.js';
import { lockConnection } from './connection-lock.js';
import { allowedReturnUrl } from './connections.queries.js';
import { askedConsent } from './asked-consent.js';
import { firstLookMs, isRenewable, needsItsUser } from './connection-state.js';
import { RenewalStatus } from './renewal-state.js';
import type { NewRenewal, RenewalList, RenewalView } from './renewal.dto.js';
import { listRenewals, moveRenewal, replaceOpenRenewals, selectRenewal } from './renewals.queries.js';

interface RenewedConnection {
  id: string;
  institution_id: string;
  status: string;
  consent_id: string | null;
  sealed_consent_token: string | null;
}

/** What is asked for, by which customer, if they are present, and the id of this work, if it is to have one. */
interface Wanted extends NewRenewal {
  psu: PsuHeaders | undefined;
  workId: string | undefined;
}

/** Begins renewals: the customer authorises again while the consent that is in use stays in use. */
@Injectable()
export class RenewalsService {
  private readonly log = createLogger('renewals');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly secrets: SecretBox,
    @Inject(Env) private readonly env: Env,
  ) {}

  /**
   * Asks for the customer's consent again; the answer says where to send the browser. An earlier open attempt is replaced. The same
   * work taken up again makes no second one.
   */
  async begin(scope: Scope, connectionId: string, { psu, workId, ...wanted }: Wanted): Promise<RenewalView> {
    const connection = await this.renewable(scope, connectionId);
    const production = isProduction(this.env);
    const returnUrl = await allowedReturnUrl(this.pool, scope.merchantId, { wanted: wanted.returnUrl, production });
    const id = workId ?? randomUUID();
    const createdAt = now();
    const { rows } = await this.pool.query<{ status: string }>(
      `insert into renewals (id, connection_id, merchant_id, status, return_url, created_at, next_look_at)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do update set id = excluded.id returning status`,
      [
        id,
        connectionId,
        scope.merchantId,
        RenewalStatus.preparing,
        returnUrl ?? null,
        createdAt,
        new Date(createdAt.getTime() + firstLookMs),
      ],
    );
    if (rows[0]?.status !== RenewalStatus.preparing) return this.get(scope, connectionId, id);
    try {
      const asked =
        (await this.askAgain(scope, connection, psu)) ?? (await this.askAnew(scope, connection, { id, psu }));
      await this.opened(scope, { id, connection }, asked);
    } catch (error) {
      // Nobody has seen the address, so nothing can come of what may have been made at the aggregator.
      await this.pool.query('delete from renewals where id = $1', [id]);
      throw refusalOf(error);
    }
    return this.get(scope, connectionId, id);
  }

  list({ customerId }: Scope, connectionId: string, query: ListQuery): Promise<RenewalList> {
    return listRenewals(this.pool, { connectionId, customerId }, query);
  }

  async get({ customerId }: Scope, connectionId: string, id: string): Promise<RenewalView> {
    const found = await selectRenewal(this.pool, { connectionId, customerId, id });
    if (!found) throw problems.notFound({ message: 'The renewal is not known' });
    return found;
  }

  /** The scope's connection, unless it can only be connected anew. */
  async renewable({ customerId }: Scope, id: string): Promise<RenewedConnection> {
    const { rows } = await this.pool.query<RenewedConnection>(
      `select id, institution_id, status, consent_id, sealed_consent_token from connections
       where id = $1 and customer_id = $2`,
      [id, customerId],
    );
    const found = rows[0];
    if (!found) throw problems.notFound({ message: 'The connection is not known' });
    if (isRenewable(found.status)) return found;
    throw problems.conflict({ message: `A connection that is ${found.status} cannot be renewed: connect anew` });
  }

  /**
   * Authorises the same consent again, but only one that has expired: while it waits for its customer the aggregator lets
   * nobody read with it, so one that still gives data is never put to that. Undefined when it cannot be done.
   */
  private async askAgain(
    { merchantId }: Scope,
    connection: RenewedConnection,
    psu: PsuHeaders | undefined,
  ): Promise<AccountAuthorisationResponse | undefined> {
    const { id, status, consent_id: consentId, sealed_consent_token: sealed } = connection;
    if (!needsItsUser(status) || consentId === null || sealed === null) return undefined;
    const application = await this.aggregator.of(merchantId);
    try {
      const { data } = await application.getConsentById(consentId);
      if (data.status !== 'EXPIRED') return undefined;
      const token = this.secrets.open(sealed, `connection:${id}:consent-token`);
      return (await application.reAuthoriseAccount(token, psu)).data;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.log.info(
        { connectionId: id, status: error.status },
        'a consent cannot be authorised again: a new one is asked for',
      );
      return undefined;
    }
  }

  /** Asks for a new consent beside the one that is in use. */
  private async askAnew(
    { merchantId, customerId }: Scope,
    { institution_id: institutionId }: RenewedConnection,
    { id, psu }: { id: string; psu: PsuHeaders | undefined },
  ): Promise<AccountAuthorisationResponse> {
    const { state, hash } = newCallbackState();
    await this.pool.query('update renewals set state_hash = $2 where id = $1', [id, hash]);
    const application = await this.aggregator.of(merchantId);
    const request = {
      applicationUserId: customerId,
      institutionId,
      callback: `${this.env.BFF_URL}/v1/connections/callback?state=${state}`,
      oneTimeToken: true,
    };
    return (await application.initiateAccountRequest(request, psu)).data;
  }

  private async opened(
    scope: Scope,
    { id, connection }: { id: string; connection: RenewedConnection },
    asked: AccountAuthorisationResponse,
  ): Promise<void> {
    const { id: consentId, authorisationUrl, lookMs } = askedConsent(asked);
    await insistentTransaction(this.pool, async (tx) => {
      const ownConsentId = (await lockConnection(tx, connection.id))?.consent_id ?? null;
      await tx.query('update renewals set consent_id = $2, authorisation_url = $3, next_look_at = $4 where id = $1', [
        id,
        consentId,
        authorisationUrl,
        new Date(now().getTime() + lookMs),
      ]);
      const connectionId = connection.id;
      if (await moveRenewal(tx, { id, to: RenewalStatus.awaitingAuthorisation })) {
        await replaceOpenRenewals(tx, { connectionId, ownConsentId, except: id, reason: 'another-renewal' });
      } else if (consentId !== ownConsentId) {
        // A later attempt was quicker, or the connection has ended: nobody will use this consent.
        await retire(tx, { merchantId: scope.merchantId, connectionId, consentId, reason: 'renewal-replaced' });
      }
    });
  }
}
