import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { ClientError } from '#libs/client';
import { type Consent, problems } from '#libs/contract';
import { POOL, SecretBox, transaction } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import {
  callbackClaimMs,
  type CallbackQuery,
  hashOfState,
  outcomeOf,
  reasonOfError,
} from '../callbacks/callback-state.js';
import { SyncSchedule } from '../sync/sync-schedule.js';
import { ConnectionStatus, isWaiting, nextLook, statusOfCallbackError, statusOfConsent } from './connection-state.js';
import { moveConnection } from './connections.queries.js';

/** A connection while its customer is on the way back from the bank. */
export interface Waiting {
  id: string;
  merchant_id: string;
  status: string;
  consent_id: string | null;
  return_url: string | null;
  created_at: Date;
}

/** Finishes authorisations: on the callback, or, when the browser never came, by asking for the consent. */
@Injectable()
export class AuthorisationService {
  private readonly log = createLogger('authorisation');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly secrets: SecretBox,
    private readonly schedule: SyncSchedule,
  ) {}

  /**
   * The browser came back. Needs no session: the single-use state names the connection. Safe to hit twice, at once or
   * later; the second hit only reads how it went.
   */
  async comeBack(query: CallbackQuery): Promise<{ id: string; status: string; returnUrl: string | null }> {
    const hash = hashOfState(query.state);
    const connection = hash === undefined ? undefined : await this.byState(hash);
    if (!connection) throw problems.notFound({ parameter: 'state', message: 'The authorisation is not known' });
    if (isWaiting(connection.status) && (await this.claim(connection.id))) await this.finish(connection, query);
    const { rows } = await this.pool.query<{ status: string }>('select status from connections where id = $1', [
      connection.id,
    ]);
    return { id: connection.id, status: rows[0]?.status ?? connection.status, returnUrl: connection.return_url };
  }

  /** Looks at an authorisation whose browser has not come back yet. */
  async lookAfter(connection: Waiting): Promise<void> {
    const consent = connection.consent_id === null ? undefined : await this.read(connection, connection.consent_id);
    if (consent && (await this.adopt(connection, consent))) return;
    const next = nextLook(connection.created_at, now());
    if (next) {
      await this.pool.query('update connections set next_sync_at = $2 where id = $1', [connection.id, next]);
      return;
    }
    const columns = { next_sync_at: null };
    const move = { id: connection.id, to: ConnectionStatus.abandoned, reason: 'never-came-back', columns };
    await transaction(this.pool, (tx) => moveConnection(tx, move));
    await this.pool.query('update connections set next_sync_at = null where id = $1 and status = $2', [
      connection.id,
      ConnectionStatus.abandoned,
    ]);
  }

  private async byState(hash: string): Promise<Waiting | undefined> {
    const { rows } = await this.pool.query<Waiting>(
      'select id, merchant_id, status, consent_id, return_url, created_at from connections where state_hash = $1',
      [hash],
    );
    return rows[0];
  }

  /** Only one hit finishes; a claim whose holder crashed is void after half a minute. */
  private async claim(id: string): Promise<boolean> {
    const at = now();
    const { rowCount } = await this.pool.query(
      'update connections set state_used_at = $2 where id = $1 and (state_used_at is null or state_used_at < $3)',
      [id, at, new Date(at.getTime() - callbackClaimMs)],
    );
    return rowCount === 1;
  }

  private async finish(connection: Waiting, query: CallbackQuery): Promise<void> {
    const outcome = outcomeOf(query);
    if (outcome.kind === 'error') {
      const move = {
        id: connection.id,
        to: statusOfCallbackError(outcome),
        reason: reasonOfError(outcome.error),
        columns: { next_sync_at: null },
      };
      await transaction(this.pool, (tx) => moveConnection(tx, move));
      return;
    }
    try {
      const consent = outcome.kind === 'token' ? await this.exchange(connection, outcome.oneTimeToken) : undefined;
      if (consent && consent.id !== connection.consent_id) {
        const move = {
          id: connection.id,
          to: ConnectionStatus.failed,
          reason: 'consent-mismatch',
          columns: { next_sync_at: null },
        };
        await transaction(this.pool, (tx) => moveConnection(tx, move));
        return;
      }
      const read =
        consent ?? (connection.consent_id === null ? undefined : await this.read(connection, connection.consent_id));
      if (!read || !(await this.adopt(connection, read))) await this.release(connection.id);
    } catch (error) {
      // The customer has done their part; the worker asks for the consent as soon as the aggregator answers again.
      await this.release(connection.id);
      if (!(error instanceof ClientError)) throw error;
      this.log.warn({ connectionId: connection.id, status: error.status }, 'the aggregator did not answer a callback');
    }
  }

  private async release(id: string): Promise<void> {
    await this.pool.query('update connections set state_used_at = null, next_sync_at = $2 where id = $1', [id, now()]);
  }

  /** Undefined when the token is spent or too old: the consent itself can still be read. */
  private async exchange(connection: Waiting, oneTimeToken: string): Promise<Consent | undefined> {
    const application = await this.aggregator.of(connection.merchant_id);
    try {
      return await application.getConsentBySingleAccessConsent({ oneTimeToken });
    } catch (error) {
      if (error instanceof ClientError && error.status !== undefined && !error.retryable) return undefined;
      throw error;
    }
  }

  private async read(connection: Waiting, consentId: string): Promise<Consent | undefined> {
    const application = await this.aggregator.of(connection.merchant_id);
    return (await application.getConsentById(consentId)).data;
  }

  /** Takes over what the consent says, if it says anything final; the token is sealed for this connection alone. */
  private async adopt({ id }: Waiting, consent: Consent): Promise<boolean> {
    const to = statusOfConsent(consent);
    if (to === undefined) return false;
    const { consentToken } = consent;
    const token =
      consentToken === undefined
        ? {}
        : { sealed_consent_token: this.secrets.seal(consentToken, `connection:${id}:consent-token`) };
    const at = now();
    const columns = {
      ...token,
      authorised_at: instant(consent.authorizedAt) ?? at,
      expires_at: instant(consent.expiresAt),
      reconfirm_by: instant(consent.reconfirmBy),
      next_sync_at: at,
    };
    const active = to === ConnectionStatus.active;
    const move = active
      ? { id, to, columns }
      : { id, to, reason: 'consent-not-given', columns: { next_sync_at: null } };
    const moved = await transaction(this.pool, (tx) => moveConnection(tx, move));
    if (moved && active) await this.schedule.soon(id);
    return true;
  }
}

function instant(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(text);
}
