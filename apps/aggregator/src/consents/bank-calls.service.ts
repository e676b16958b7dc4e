import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems, type AuthorisationStatus, type PsuHeaders } from '#libs/contract';
import { InstitutionError, needsUser, type Call, type Connector, type Consented } from '#libs/connectors';
import { POOL } from '#libs/database';
import { now, tracingId } from '#libs/server';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { claimRenewal, releaseRenewal, replaceGrant } from './consent-claims.queries.js';
import { ConsentSecrets } from './consent-secrets.js';
import { statusAtBank } from './consent-state.js';
import { moveConsent, type ConsentRow } from './consent.queries.js';

/** How long one of our callers waits for a bank before it is told that the bank does not answer. */
const CALL_MS = 30_000;
/** How long we wait to learn whether a consent still exists. */
const STATUS_MS = 10_000;
/** How long one process has a renewal for itself: longer than the exchanges of one can take. */
const RENEWAL_MS = 90_000;
/** Between two looks at a renewal that another process has in hand; nobody looks longer than a caller waits. */
const RENEWAL_PAUSE_MS = 50;

const userNeeded = 'The institution takes the consent no longer: its user has to authorise it again';

/** The bank's failure that `error` is; a call that ran out of our patience is the bank's timeout. Undefined otherwise. */
export function institutionErrorOf(error: unknown): InstitutionError | undefined {
  if (error instanceof InstitutionError) return error;
  if (!(error instanceof DOMException) || error.name !== 'TimeoutError') return undefined;
  return new InstitutionError('timeout', 'The institution did not answer in time', { cause: error });
}

/** Who is at the bank, and how long we wait; `signal` ends the call of somebody who wants no answer any more. */
export interface CallOptions {
  psu: PsuHeaders;
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/** A bank, and the call that carries a consent's grant to it. */
export interface OpenConsent {
  connector: Connector;
  call: Consented;
}

/** Turns consents into calls to their banks, saves the grants that banks renew, and notices consents that banks ended. */
@Injectable()
export class BankCalls {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly institutions: InstitutionsService,
  ) {}

  /** A call that needs no consent yet. */
  call({ psu, timeoutMs = CALL_MS, signal }: CallOptions): Call {
    const patience = AbortSignal.timeout(timeoutMs);
    return {
      psu: {
        ...(psu.psuId === undefined ? {} : { id: psu.psuId }),
        ...(psu.psuCorporateId === undefined ? {} : { corporateId: psu.psuCorporateId }),
        ...(psu.psuIpAddress === undefined ? {} : { ipAddress: psu.psuIpAddress }),
      },
      tracingId: tracingId(),
      signal: signal === undefined ? patience : AbortSignal.any([patience, signal]),
    };
  }

  /** The bank and the call for a consent; undefined while the bank has given nothing for it. */
  open(consent: ConsentRow, options: CallOptions): OpenConsent | undefined {
    const { id, sealedGrant, sealedPending } = consent;
    const grant =
      sealedGrant !== null
        ? this.secrets.openGrant(id, sealedGrant, 'grant')
        : sealedPending !== null
          ? this.secrets.openGrant(id, sealedPending, 'pending')
          : undefined;
    if (grant === undefined) return undefined;
    const asked = this.call(options);
    const call: Consented = { ...asked, grant, ...this.renewal(id, sealedGrant ?? '', asked.signal) };
    return { connector: this.institutions.connector(consent.institutionId), call };
  }

  /** How the grant of a consent is renewed and kept: by one process at a time, on the grant as it is by then. */
  private renewal(id: string, sealedGrant: string, signal: AbortSignal): Required<Pick<Consented, 'keep' | 'alone'>> {
    let from = sealedGrant;
    return {
      keep: (renewed) => {
        return replaceGrant(this.pool, { id, from, to: this.secrets.sealGrant(id, renewed, 'grant'), at: now() });
      },
      alone: async (work) => {
        const { until, sealed } = await this.takeRenewal(id, signal);
        from = sealed;
        try {
          return await work(this.secrets.openGrant(id, sealed, 'grant'));
        } finally {
          await releaseRenewal(this.pool, { id, until });
        }
      },
    };
  }

  private async takeRenewal(id: string, signal: AbortSignal): Promise<{ until: Date; sealed: string }> {
    for (let waitedMs = 0; waitedMs < CALL_MS; waitedMs += RENEWAL_PAUSE_MS) {
      const at = now();
      const until = new Date(at.getTime() + RENEWAL_MS);
      const claimed = await claimRenewal(this.pool, { id, at, until });
      if (claimed?.sealedGrant) return { until, sealed: claimed.sealedGrant };
      if (claimed) throw problems.consentNotAuthorised();
      signal.throwIfAborted();
      await pause(RENEWAL_PAUSE_MS);
    }
    throw new InstitutionError('timeout', 'The institution did not renew the access in time');
  }

  /** The bank and the call for a consent that has a grant; that it has one follows from its status. */
  openGranted(consent: ConsentRow, options: CallOptions): OpenConsent {
    const bank = consent.sealedGrant === null ? undefined : this.open(consent, options);
    if (bank === undefined) throw new Error(`Consent ${consent.id} is usable but has no grant`);
    return bank;
  }

  /**
   * Runs `ask` and answers its failure as the interface does. When the bank says that the consent is gone, it ends here as
   * well, so that the next call is refused without asking the bank.
   */
  async ask<T>(consent: ConsentRow, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (await this.noteRevocation(consent, error)) throw problems.consentNotAuthorised();
      const failure = institutionErrorOf(error);
      if (failure && needsUser(failure)) throw problems.consentNotAuthorised({ message: userNeeded });
      throw this.institutions.problemOf(error);
    }
  }

  /**
   * Records that a bank ended a consent, if that is what `error` says. A refused token may mean that, or a passing fault; and
   * a consent that is gone may have been revoked, run out or been refused. The consent's state at the bank decides, where the
   * protocol tells it. Answers whether the consent has ended.
   */
  async noteRevocation(consent: ConsentRow, error: unknown): Promise<boolean> {
    const kind = institutionErrorOf(error)?.kind;
    if (kind !== 'consent-gone' && kind !== 'unauthorised') return false;
    const ended = (await this.ended(consent)) ?? (kind === 'consent-gone' ? statusAtBank('revoked') : undefined);
    if (ended === undefined) return false;
    await moveConsent(this.pool, { id: consent.id, to: ended, at: now() });
    return true;
  }

  private async ended(consent: ConsentRow): Promise<AuthorisationStatus | undefined> {
    const bank = this.open(consent, { psu: {}, timeoutMs: STATUS_MS });
    if (bank?.connector.status === undefined) return undefined;
    try {
      return statusAtBank(await bank.connector.status(bank.call));
    } catch (error) {
      const failure = institutionErrorOf(error);
      if (failure === undefined) throw error;
      // A bank that cannot tell has not ended anything: the first failure is the answer.
      return failure.kind === 'consent-gone' ? statusAtBank('revoked') : undefined;
    }
  }
}
