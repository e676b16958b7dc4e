import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { ClientError } from '#libs/client';
import { type Consent, problems, type PsuHeaders } from '#libs/contract';
import { insistentTransaction, POOL, SecretBox, transaction } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { claimCallback } from '../callbacks/callback-claim.js';
import { type CallbackQuery, hashOfState, outcomeOf, reasonOfError } from '../callbacks/callback-state.js';
import { openAttendedRun } from '../sync/attendance.js';
import { SyncSchedule } from '../sync/sync-schedule.js';
import { ConsentAdoption } from './consent-adoption.service.js';
import { ConsentAnswers } from './consent-answers.service.js';
import { ConnectionStatus, isWaiting, nextLook, statusOfCallbackError, statusOfConsent } from './connection-state.js';
import { moveConnection } from './connections.queries.js';
import { RenewalCompletion } from './renewal-completion.service.js';
import { isOpen } from './renewal-state.js';
import { findRenewal, openRenewalOf, type Renewal, renewalByState } from './renewals.queries.js';

/** A connection while its customer is on the way back from the bank. */
export interface Waiting {
  id: string;
  merchant_id: string;
  institution_id: string;
  status: string;
  consent_id: string | null;
  return_url: string | null;
  authorisation_url: string | null;
  created_at: Date;
}

/** What becomes of a browser that came back. */
export interface Return {
  id: string;
  status: string;
  returnUrl: string | null;
  /** The renewal that it came back from. */
  renewal?: { id: string; status: string };
}

const waitingColumns = 'id, merchant_id, institution_id, status, consent_id, return_url, authorisation_url, created_at';

/** Finishes authorisations: on the callback, or, when the browser never came, by asking for the consent. */
@Injectable()
export class AuthorisationService {
  private readonly log = createLogger('authorisation');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly answers: ConsentAnswers,
    private readonly adoption: ConsentAdoption,
    private readonly renewals: RenewalCompletion,
    private readonly schedule: SyncSchedule,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * The browser came back. Needs no session: the single-use state names the connection. Safe to hit twice, at once or
   * later; the second hit only reads how it went. `psu` is the customer, whose browser it is.
   */
  async comeBack(query: CallbackQuery, psu?: PsuHeaders): Promise<Return> {
    const hash = hashOfState(query.state);
    const renewal = hash === undefined ? undefined : await renewalByState(this.pool, hash);
    if (renewal) return this.comeBackFromRenewal(renewal, query, psu);
    const connection = hash === undefined ? undefined : await this.connectionOf('state_hash', hash);
    if (!connection) throw problems.notFound({ parameter: 'state', message: 'The authorisation is not known' });
    if (isWaiting(connection.status)) {
      if (await claimCallback(this.pool, 'connections', connection.id)) await this.finish(connection, query, psu);
      return this.told(connection.id, connection.return_url);
    }
    return (await this.authorisedAgain(connection, query, psu)) ?? this.told(connection.id, connection.return_url);
  }

  /** Looks at an authorisation whose browser has not come back yet. */
  async lookAfter(connection: Waiting): Promise<void> {
    const { merchant_id: merchantId, consent_id: consentId } = connection;
    const consent = consentId === null ? undefined : await this.answers.find(merchantId, consentId);
    if (consent === 'gone') {
      const move = {
        id: connection.id,
        to: ConnectionStatus.failed,
        reason: 'consent-gone',
        columns: { next_sync_at: null },
      };
      await transaction(this.pool, (tx) => moveConnection(tx, move));
      return;
    }
    if (consent && (await this.adopt(connection, consent))) return;
    const next = nextLook(connection.created_at, now(), { isElsewhere: connection.authorisation_url === null });
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

  private async comeBackFromRenewal(renewal: Renewal, query: CallbackQuery, psu?: PsuHeaders): Promise<Return> {
    await this.renewals.comeBack(renewal, query, psu);
    const after = await findRenewal(this.pool, renewal.id);
    const told = await this.told(renewal.connection_id, renewal.return_url);
    // A consent that was made by a renewal comes back with that renewal's state when it is authorised again.
    const connection = isOpen(renewal.status) ? undefined : await this.connectionOf('id', renewal.connection_id);
    const again = connection && (await this.authorisedAgain(connection, query, psu));
    return again ?? { ...told, renewal: { id: renewal.id, status: after?.status ?? renewal.status } };
  }

  /** The consent in use had lapsed and is authorised again: it comes back with the state that it was made with. */
  private async authorisedAgain(
    { consent_id: consentId }: Waiting,
    query: CallbackQuery,
    psu?: PsuHeaders,
  ): Promise<Return | undefined> {
    const renewal = consentId === null ? undefined : await openRenewalOf(this.pool, consentId);
    if (!renewal) return undefined;
    await this.renewals.comeBack(renewal, query, psu);
    const after = await findRenewal(this.pool, renewal.id);
    const told = await this.told(renewal.connection_id, renewal.return_url);
    return { ...told, renewal: { id: renewal.id, status: after?.status ?? renewal.status } };
  }

  private async told(id: string, returnUrl: string | null): Promise<Return> {
    const { rows } = await this.pool.query<{ status: string }>('select status from connections where id = $1', [id]);
    return { id, status: rows[0]?.status ?? ConnectionStatus.revoked, returnUrl };
  }

  private async connectionOf(column: 'id' | 'state_hash', value: string): Promise<Waiting | undefined> {
    const { rows } = await this.pool.query<Waiting>(`select ${waitingColumns} from connections where ${column} = $1`, [
      value,
    ]);
    return rows[0];
  }

  private async finish(connection: Waiting, query: CallbackQuery, psu?: PsuHeaders): Promise<void> {
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
    const { id, merchant_id: merchantId, consent_id: consentId } = connection;
    try {
      const consent = consentId === null ? undefined : await this.answers.after(merchantId, consentId, outcome);
      if (consent && consent.id !== consentId) {
        const columns = { next_sync_at: null };
        const move = { id, to: ConnectionStatus.failed, reason: 'consent-mismatch', columns };
        await transaction(this.pool, (tx) => moveConnection(tx, move));
        return;
      }
      if (!consent || !(await this.adopt(connection, consent, psu))) await this.release(id);
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

  /** Takes over what the consent says, if it says anything final; the token is sealed for this connection alone. */
  private async adopt(
    { id, institution_id: institutionId }: Waiting,
    consent: Consent,
    psu?: PsuHeaders,
  ): Promise<boolean> {
    const to = statusOfConsent(consent);
    if (to === undefined) return false;
    const active = to === ConnectionStatus.active;
    const move = active
      ? { id, to, columns: await this.adoption.columnsOf({ id, institutionId }, consent) }
      : { id, to, reason: 'consent-not-given', columns: { next_sync_at: null } };
    const moved = await insistentTransaction(this.pool, async (tx) => {
      if (!(await moveConnection(tx, move))) return false;
      if (active) await openAttendedRun(tx, this.secrets, { connectionId: id, psu });
      return true;
    });
    if (moved && active) await this.schedule.soon(id);
    return true;
  }
}
