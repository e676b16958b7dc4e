import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Grant, InstitutionError, Step } from '#libs/connectors';
import { asSystem, inScope, POOL, transaction } from '#libs/database';
import { now } from '#libs/server';
import { BankCalls, institutionErrorOf } from '../consents/bank-calls.service.js';
import { ConsentSecrets, mintOneTimeToken } from '../consents/consent-secrets.js';
import { awaitsCallback } from '../consents/consent-state.js';
import { findConsentByState, moveConsent, type ConsentRow } from '../consents/consent.queries.js';
import { insertOneTimeToken } from '../consents/one-time-token.queries.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { stateOf } from './callback-answer.js';
import type { OutcomePage } from './callback-page.js';
import { callbackLocation, type CallbackOutcome } from './callback-url.js';
import { claimCallback, releaseCallback } from './callback.queries.js';

const DAY_MS = 86_400_000;
/** How long a one-time token can be exchanged (service-facts 26). */
const ONE_TIME_TOKEN_MS = 10 * 60_000;
/** How long the bank may take to exchange its code; after that a crashed exchange may be tried again. */
const EXCHANGE_MS = 30_000;
const LEASE_MS = 60_000;

/** Where the browser goes: to the application, or to a page of ours. */
export type CallbackResult = { redirect: string } | { page: OutcomePage };

/**
 * Finishes what the user did at the bank. The order survives a crash between any two lines: the callback is claimed, the
 * bank exchanges its code, then status, grant, consent token and one-time token are written in one transaction, and only
 * then does anyone learn of the tokens. Of two answers to one state, and of a replay, only the first does anything.
 */
@Injectable()
export class CallbackService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly banks: BankCalls,
    private readonly institutions: InstitutionsService,
  ) {}

  /** Handles the bank's answer, as it came in the query or in the posted form. */
  async answer(answer: URLSearchParams): Promise<CallbackResult> {
    const state = stateOf(answer);
    // The browser has no credentials: the state alone says whose consent this is.
    const consent = state === undefined ? undefined : await asSystem(() => findConsentByState(this.pool, state));
    if (consent === undefined) return { page: 'unknown' };
    return inScope([consent.applicationId], () => this.finish(consent, answer));
  }

  private async finish(consent: ConsentRow, answer: URLSearchParams): Promise<CallbackResult> {
    if (!awaitsCallback(consent.status)) return { page: 'finished' };
    const at = now();
    if (!(await claimCallback(this.pool, consent.id, at, new Date(at.getTime() + LEASE_MS))))
      return { page: 'underway' };
    const step = await this.proceed(consent, answer);
    if (step.kind === 'authorised') return this.authorise(consent, step.grant, answer);
    if (step.kind === 'rejected') return this.refuse(consent, refusalOf(step.reason), answer);
    if (step.kind === 'failed') return this.refuse(consent, failureOf(step.error), answer);
    await releaseCallback(this.pool, consent.id, this.secrets.sealGrant(consent.id, step.pending, 'pending'));
    return { page: 'underway' };
  }

  private async proceed(
    consent: ConsentRow,
    answer: URLSearchParams,
  ): Promise<Step | { kind: 'failed'; error: InstitutionError }> {
    if (consent.sealedPending === null)
      throw new Error(`Consent ${consent.id} awaits its user but has nothing pending`);
    const pending = this.secrets.openGrant(consent.id, consent.sealedPending, 'pending');
    const connector = this.institutions.connector(consent.institutionId);
    try {
      return await connector.proceed(this.banks.call({ psu: {}, timeoutMs: EXCHANGE_MS }), pending, {
        callback: answer,
      });
    } catch (error) {
      const failure = institutionErrorOf(error);
      if (failure === undefined) throw error;
      return { kind: 'failed', error: failure };
    }
  }

  private async authorise(consent: ConsentRow, grant: Grant, answer: URLSearchParams): Promise<CallbackResult> {
    const at = now();
    const known = consent.sealedToken === null ? undefined : this.secrets.openToken(consent.id, consent.sealedToken);
    const minted = known === undefined ? this.secrets.mintToken(consent.id) : undefined;
    const once = consent.oneTimeToken ? mintOneTimeToken() : undefined;
    const moved = await transaction(this.pool, async (tx) => {
      const won = await moveConsent(tx, {
        id: consent.id,
        from: consent.status,
        to: 'AUTHORIZED',
        at,
        changes: {
          authorizedAt: at,
          ...this.clocks(consent, grant, at),
          institutionConsentId: grant.institutionConsentId,
          sealedGrant: this.secrets.sealGrant(consent.id, grant, 'grant'),
          sealedPending: null,
          callbackLeaseUntil: null,
          ...(minted ? { sealedToken: minted.sealed, tokenHash: minted.hash } : {}),
        },
      });
      if (won && once) {
        const { id: consentId, applicationId } = consent;
        const expiresAt = new Date(at.getTime() + ONE_TIME_TOKEN_MS);
        await insertOneTimeToken(tx, { hash: once.hash, applicationId, consentId, createdAt: at, expiresAt });
      }
      return won;
    });
    // Deleted or expired while the bank was exchanging its code: what the bank gave is forgotten.
    if (!moved) return { page: 'finished' };
    const consentToken = known ?? minted?.token;
    if (once) return this.leave(consent, { kind: 'one-time-token', oneTimeToken: once.token }, answer);
    if (consentToken === undefined) throw new Error(`Consent ${consent.id} is authorised without a token`);
    return this.leave(consent, { kind: 'consent', consentToken }, answer);
  }

  /** The bank's end of the consent counts when it is nearer than ours; account access is to be confirmed every so often. */
  private clocks(consent: ConsentRow, grant: Grant, at: Date): { [clock: string]: Date | null } {
    if (consent.kind === 'payment') return {};
    const { maxConsentDays } = this.institutions.require(consent.institutionId).data;
    const ends = [consent.expiresAt, grant.expiresAt ?? null].filter((end) => end !== null);
    return {
      expiresAt: ends.toSorted((a, b) => a.getTime() - b.getTime())[0] ?? null,
      lastConfirmedAt: at,
      reconfirmBy: new Date(at.getTime() + maxConsentDays * DAY_MS),
    };
  }

  private async refuse(consent: ConsentRow, refusal: Refusal, answer: URLSearchParams): Promise<CallbackResult> {
    const { to, ...outcome } = refusal;
    const changes = { sealedPending: null, callbackLeaseUntil: null };
    const moved = await moveConsent(this.pool, { id: consent.id, from: consent.status, to, at: now(), changes });
    return moved ? this.leave(consent, { kind: 'error', ...outcome }, answer) : { page: 'finished' };
  }

  private leave(consent: ConsentRow, outcome: CallbackOutcome, answer: URLSearchParams): CallbackResult {
    if (consent.callback === null) return { page: pageOf(outcome) };
    return {
      redirect: callbackLocation({
        callback: consent.callback,
        subject: {
          applicationUserId: consent.applicationUserId ?? undefined,
          userUuid: consent.userId,
          institutionId: consent.institutionId,
        },
        outcome,
        forward: consent.forwardParameters ?? undefined,
        fromBank: answer,
      }),
    };
  }
}

interface Refusal {
  to: 'REJECTED' | 'FAILED';
  error: string;
  source: 'user' | 'institution';
  description: string;
}

/** Connectors answer `rejected` when the user refused or gave up, which OAuth calls `access_denied`; a bank's fault is thrown. */
function refusalOf(reason: string): Refusal {
  return { to: 'REJECTED', error: 'access_denied', source: 'user', description: reason };
}

function failureOf(error: InstitutionError): Refusal {
  return { to: 'FAILED', error: 'uncategorized_error', source: 'institution', description: error.message };
}

function pageOf(outcome: CallbackOutcome): OutcomePage {
  if (outcome.kind !== 'error') return 'authorised';
  return outcome.source === 'user' ? 'refused' : 'failed';
}
