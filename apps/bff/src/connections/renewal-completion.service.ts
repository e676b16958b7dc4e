import { Inject, Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { ClientError } from '#libs/client';
import type { Consent, PsuHeaders } from '#libs/contract';
import { insistentTransaction, POOL, SecretBox, transaction } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { claimCallback } from '../callbacks/callback-claim.js';
import { type CallbackQuery, outcomeOf, reasonOfError } from '../callbacks/callback-state.js';
import { retire } from '../consents/withdrawals.queries.js';
import { openAttendedRun } from '../sync/attendance.js';
import { startReading } from '../sync/consent-change.js';
import { SyncSchedule } from '../sync/sync-schedule.js';
import { ConsentAdoption } from './consent-adoption.service.js';
import { ConsentAnswers } from './consent-answers.service.js';
import { ConnectionStatus, isRenewable, needsItsUser, nextLook } from './connection-state.js';
import { lockConnection } from './connection-lock.js';
import { type ConnectionColumns, moveConnection, setColumns } from './connections.queries.js';
import { endOfCallbackError, endOfConsent, isCompleted, isCutOff, isOpen, RenewalStatus } from './renewal-state.js';
import { moveRenewal, type Renewal } from './renewals.queries.js';

interface End {
  to: RenewalStatus;
  reason: string;
}

/** Finishes renewals: puts the new consent in the old one's place in one transaction, or leaves the old one as it is. */
@Injectable()
export class RenewalCompletion {
  private readonly log = createLogger('renewals');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly answers: ConsentAnswers,
    private readonly adoption: ConsentAdoption,
    private readonly schedule: SyncSchedule,
    private readonly secrets: SecretBox,
  ) {}

  /** The browser came back, and with it the customer. Safe to hit twice: only one hit finishes, and what has ended stays as it is. */
  async comeBack(renewal: Renewal, query: CallbackQuery, psu?: PsuHeaders): Promise<void> {
    if (
      !isOpen(renewal.status) ||
      renewal.consent_id === null ||
      !(await claimCallback(this.pool, 'renewals', renewal.id))
    )
      return;
    const outcome = outcomeOf(query);
    if (outcome.kind === 'error') {
      await this.end(renewal, { to: endOfCallbackError(outcome), reason: reasonOfError(outcome.error) });
      return;
    }
    try {
      const consent = await this.answers.after(renewal.merchant_id, renewal.consent_id, outcome);
      if (consent.id !== renewal.consent_id) {
        await this.end(renewal, { to: RenewalStatus.failed, reason: 'consent-mismatch' });
      } else if (!(await this.adopt(renewal, consent, psu))) {
        await this.release(renewal.id);
      }
    } catch (error) {
      // The customer has done their part; the worker asks for the consent as soon as the aggregator answers again.
      await this.release(renewal.id);
      if (!(error instanceof ClientError)) throw error;
      this.log.warn({ renewalId: renewal.id, status: error.status }, 'the aggregator did not answer a callback');
    }
  }

  /** Looks at an attempt whose browser has not come back yet. */
  async lookAfter(renewal: Renewal): Promise<void> {
    if (!isOpen(renewal.status)) return;
    if (isCutOff(renewal.status) || renewal.consent_id === null) {
      await this.end(renewal, { to: RenewalStatus.failed, reason: 'interrupted' });
      return;
    }
    const consent = await this.answers.find(renewal.merchant_id, renewal.consent_id);
    if (consent === 'gone') return this.end(renewal, { to: RenewalStatus.failed, reason: 'consent-gone' });
    if (consent !== undefined && (await this.adopt(renewal, consent))) return;
    const next = nextLook(renewal.created_at, now(), { isElsewhere: renewal.authorisation_url === null });
    if (next === undefined) {
      await this.end(renewal, { to: RenewalStatus.abandoned, reason: 'never-came-back' });
      return;
    }
    await this.pool.query('update renewals set next_look_at = $2 where id = $1', [renewal.id, next]);
  }

  private async release(id: string): Promise<void> {
    await this.pool.query('update renewals set state_used_at = null, next_look_at = $2 where id = $1', [id, now()]);
  }

  /** Takes over what the new consent says, if it says anything final. */
  private async adopt(renewal: Renewal, consent: Consent, psu?: PsuHeaders): Promise<boolean> {
    const to = endOfConsent(consent);
    if (to === undefined) return false;
    if (!isCompleted(to)) {
      await this.end(renewal, { to, reason: 'consent-not-given' });
      return true;
    }
    const { connection_id: id, institution_id: institutionId } = renewal;
    const columns = await this.adoption.columnsOf({ id, institutionId }, consent);
    const isInPlace = await insistentTransaction(this.pool, async (tx) => {
      if (!(await putInPlace(tx, renewal, columns))) return false;
      await openAttendedRun(tx, this.secrets, { connectionId: id, psu });
      return true;
    });
    if (isInPlace) await this.schedule.soon(id);
    return true;
  }

  /** The connection goes on as it was; what may have come to be at the bank is ended there. */
  private async end(renewal: Renewal, { to, reason }: End): Promise<void> {
    await transaction(this.pool, async (tx) => {
      const connection = await lockConnection(tx, renewal.connection_id);
      if (!(await moveRenewal(tx, { id: renewal.id, to, reason }))) return;
      await retireNew(tx, renewal, connection?.consent_id ?? null);
    });
  }
}

/** Token, consent and clocks change places at once; the old consent is ended at the bank afterwards. */
async function putInPlace(tx: PoolClient, renewal: Renewal, columns: ConnectionColumns): Promise<boolean> {
  const connection = await lockConnection(tx, renewal.connection_id);
  if (!connection || !isRenewable(connection.status)) {
    const move = { id: renewal.id, to: RenewalStatus.replaced, reason: 'connection-ended' };
    if (await moveRenewal(tx, move)) await retireNew(tx, renewal, null);
    return false;
  }
  const { consent_id: formerConsentId } = connection;
  const isSame = formerConsentId === renewal.consent_id;
  const move = { id: renewal.id, to: RenewalStatus.completed, formerConsentId: isSame ? null : formerConsentId };
  if (!(await moveRenewal(tx, move))) return false;
  const id = renewal.connection_id;
  if (needsItsUser(connection.status)) await moveConnection(tx, { id, to: ConnectionStatus.active, columns });
  else await setColumns(tx, id, columns);
  await startReading(tx, id);
  if (!isSame && formerConsentId !== null) {
    const merchantId = renewal.merchant_id;
    await retire(tx, { merchantId, connectionId: id, consentId: formerConsentId, reason: 'renewed' });
  }
  return true;
}

async function retireNew(tx: PoolClient, renewal: Renewal, ownConsentId: string | null): Promise<void> {
  const { consent_id: consentId, connection_id: connectionId, merchant_id: merchantId } = renewal;
  if (consentId === null || consentId === ownConsentId) return;
  await retire(tx, { merchantId, connectionId, consentId, reason: 'renewal-ended' });
}
