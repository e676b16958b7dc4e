import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { AccountRequest, PsuHeaders, ScaMethod } from '#libs/contract';
import type { Answer, Grant, InstitutionError, Step } from '#libs/connectors';
import { POOL, transaction } from '#libs/database';
import { now } from '#libs/server';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { BankCalls, institutionErrorOf, type CallOptions } from './bank-calls.service.js';
import { accessDays, earliest, renewedEnd, reconfirmBy } from './consent-clocks.js';
import { claimConsent, countScaFailure, releaseConsent } from './consent-claims.queries.js';
import { ConsentSecrets, mintOneTimeToken, type ScaChoice } from './consent-secrets.js';
import {
  isPolled,
  phaseOf,
  statusAfter,
  statusFailed,
  statusGranted,
  type Failure,
  type WaitingStep,
} from './consent-state.js';
import { moveConsent, type ConsentChanges, type ConsentRow } from './consent.queries.js';
import { insertOneTimeToken } from './one-time-token.queries.js';

/** How long a one-time token can be exchanged. */
const ONE_TIME_TOKEN_MS = 10 * 60_000;
/** How long the bank may take for one step; a crashed step may be tried again when its lease is over. */
const STEP_MS = 30_000;
const LEASE_MS = 60_000;
/** Nobody waits for the answer of a check longer than this. */
const CHECK_MS = 10_000;
/** A client that polls faster than this is answered with what we know. */
const CHECK_EVERY_MS = 1_000;
/** So many wrong codes end an embedded authorisation. */
const SCA_FAILURES_MAX = 3;

/** What became of one step. `underway`: another request is at it. `finished`: it is no longer wanted. */
export type Advance =
  | { kind: 'granted'; consentToken: string; oneTimeToken?: string }
  | { kind: 'waiting'; step: WaitingStep }
  | { kind: 'refused'; reason: string }
  | { kind: 'failed'; error: InstitutionError }
  | { kind: 'underway' }
  | { kind: 'finished' };

/** What a connector's `proceed` came to, its failure included. */
type Outcome = Step | { kind: 'failed'; error: InstitutionError };

/**
 * Takes authorisations a step further. The order survives a crash between any two lines: the step is claimed, the bank is
 * asked, then status, grant and tokens are written in one transaction, and only then does anyone learn of the tokens. Of two
 * answers to one question, and of a replay, only the first does anything.
 */
@Injectable()
export class ConsentSteps {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly banks: BankCalls,
    private readonly institutions: InstitutionsService,
  ) {}

  /** Answers the bank: what the browser brought back, the chosen method, the typed code. */
  async advance(consent: ConsentRow, answer: Answer, psu: PsuHeaders = {}): Promise<Advance> {
    const at = now();
    const { id, status } = consent;
    const claimed = await claimConsent(this.pool, { id, status, at, until: new Date(at.getTime() + LEASE_MS) });
    if (claimed === undefined) return { kind: 'underway' };
    const outcome = await this.ask(consent, claimed.sealedPending, { answer, psu, timeoutMs: STEP_MS });
    return this.record(consent, outcome, answer);
  }

  /**
   * Asks the bank how far an authorisation is that nobody comes back from, unless it was asked a moment ago. Given up by
   * `signal`, it leaves everything as it was; the consent is asked about again when the lease is over.
   */
  async check(consent: ConsentRow, signal?: AbortSignal): Promise<void> {
    if (!isPolled(consent.status)) return;
    const at = now();
    const { id, status } = consent;
    const claimed = await claimConsent(this.pool, {
      id,
      status,
      at,
      until: new Date(at.getTime() + LEASE_MS),
      uncheckedSince: new Date(at.getTime() - CHECK_EVERY_MS),
    });
    if (claimed === undefined) return;
    const answer: Answer = { poll: true };
    const outcome = await this.ask(consent, claimed.sealedPending, { answer, psu: {}, timeoutMs: CHECK_MS, signal });
    await this.record(consent, outcome, answer);
  }

  private async ask(
    consent: ConsentRow,
    sealedPending: string | null,
    { answer, ...options }: { answer: Answer } & CallOptions,
  ): Promise<Outcome> {
    if (sealedPending === null) throw new Error(`Consent ${consent.id} awaits its user but has nothing pending`);
    const pending = this.secrets.openGrant(consent.id, sealedPending, 'pending');
    const connector = this.institutions.connector(consent.institutionId);
    try {
      return await connector.proceed(this.banks.call(options), pending, answer);
    } catch (error) {
      const failure = institutionErrorOf(error);
      if (failure === undefined) throw error;
      return { kind: 'failed', error: failure };
    }
  }

  private async record(consent: ConsentRow, outcome: Outcome, answer: Answer): Promise<Advance> {
    const isEmbedded = 'method' in answer || 'code' in answer;
    switch (outcome.kind) {
      case 'authorised':
        return this.grant(consent, outcome.grant, 'callback' in answer);
      case 'rejected': {
        const moved = await this.fail(consent, isEmbedded ? 'FAILED' : 'REJECTED');
        return moved ? { kind: 'refused', reason: outcome.reason } : { kind: 'finished' };
      }
      case 'failed':
        return this.afterFailure(consent, outcome.error, answer);
      default:
        return this.wait(consent, outcome, 'method' in answer ? answer.method : undefined);
    }
  }

  /** A browser's answer cannot be given twice; a code can be typed again, and the bank can be asked again. */
  private async afterFailure(consent: ConsentRow, error: InstitutionError, answer: Answer): Promise<Advance> {
    const failed: Advance = { kind: 'failed', error };
    if ('callback' in answer) {
      const moved = await this.fail(consent, error.kind === 'malformed' ? 'UNKNOWN' : 'FAILED');
      return moved ? failed : { kind: 'finished' };
    }
    const isWrongCode = 'code' in answer && (error.kind === 'rejected' || error.kind === 'unauthorised');
    if (!isWrongCode) {
      await releaseConsent(this.pool, consent.id);
      return failed;
    }
    if ((await countScaFailure(this.pool, consent.id)) >= SCA_FAILURES_MAX) await this.fail(consent, 'FAILED');
    return failed;
  }

  private fail(consent: ConsentRow, failure: Failure): Promise<boolean> {
    const { id, status: from, formerStatus } = consent;
    const to = statusFailed(from, failure, formerStatus);
    return moveConsent(this.pool, { id, from, to, at: now(), changes: CLEARED });
  }

  private async wait(consent: ConsentRow, step: WaitingStep, chosen?: ScaMethod): Promise<Advance> {
    const { id, status: from } = consent;
    const to = statusAfter(from, step.kind);
    const sealedPending = this.secrets.sealGrant(id, step.pending, 'pending');
    if (to === from) {
      await releaseConsent(this.pool, id, sealedPending);
      return { kind: 'waiting', step };
    }
    const sca = this.scaOf(consent, step, chosen);
    const changes: ConsentChanges = {
      sealedPending,
      callbackLeaseUntil: null,
      sealedUrl: null,
      sealedAnswer: null,
      institutionConsentId: step.pending.institutionConsentId,
      ...(sca === undefined ? {} : { sealedSca: this.secrets.sealSca(id, sca) }),
    };
    const moved = await moveConsent(this.pool, { id, from, to, at: now(), changes });
    return moved ? { kind: 'waiting', step } : { kind: 'finished' };
  }

  private scaOf(consent: ConsentRow, step: WaitingStep, chosen?: ScaMethod): ScaChoice | undefined {
    const selected = (step.kind === 'enter-code' ? step.method : undefined) ?? chosen;
    if (selected === undefined) return undefined;
    const known = consent.sealedSca === null ? undefined : this.secrets.openSca(consent.id, consent.sealedSca);
    return { methods: known?.methods ?? [selected], selected };
  }

  private async grant(consent: ConsentRow, grant: Grant, fromBrowser: boolean): Promise<Advance> {
    const at = now();
    const known = consent.sealedToken === null ? undefined : this.secrets.openToken(consent.id, consent.sealedToken);
    const minted = known === undefined ? this.secrets.mintToken(consent.id) : undefined;
    const consentToken = known ?? minted?.token;
    if (consentToken === undefined) throw new Error(`Consent ${consent.id} is granted without a token`);
    const once = fromBrowser && consent.oneTimeToken ? mintOneTimeToken() : undefined;
    const { id, applicationId, status: from } = consent;
    const moved = await transaction(this.pool, async (tx) => {
      const changes: ConsentChanges = {
        ...CLEARED,
        authorizedAt: at,
        ...this.clocks(consent, grant, at),
        institutionConsentId: grant.institutionConsentId,
        sealedGrant: this.secrets.sealGrant(id, grant, 'grant'),
        ...(minted ? { sealedToken: minted.sealed, tokenHash: minted.hash } : {}),
      };
      const won = await moveConsent(tx, { id, from, to: statusGranted(from), at, changes });
      if (won && once) {
        const expiresAt = new Date(at.getTime() + ONE_TIME_TOKEN_MS);
        await insertOneTimeToken(tx, { hash: once.hash, applicationId, consentId: id, createdAt: at, expiresAt });
      }
      return won;
    });
    // Deleted or expired while the bank was deciding: what the bank gave is forgotten.
    if (!moved) return { kind: 'finished' };
    return { kind: 'granted', consentToken, ...(once ? { oneTimeToken: once.token } : {}) };
  }

  /** The bank's end of the consent counts when it is nearer than ours; account access is to be confirmed every so often. */
  private clocks(consent: ConsentRow, grant: Grant, at: Date): ConsentChanges {
    if (phaseOf(consent.status) === 'pre-authorisation')
      return { expiresAt: earliest(consent.expiresAt, grant.expiresAt) };
    if (consent.kind === 'payment') return {};
    const { data } = this.institutions.require(consent.institutionId);
    const end = consent.formerStatus === null ? consent.expiresAt : (renewedEnd(this.asked(consent), at, data) ?? null);
    return {
      expiresAt: earliest(end, grant.expiresAt),
      lastConfirmedAt: at,
      reconfirmBy: reconfirmBy(at, accessDays(data)),
    };
  }

  private asked({ id, sealedRequest }: ConsentRow): AccountRequest {
    return sealedRequest === null ? {} : this.secrets.openRequest<AccountRequest>(id, sealedRequest);
  }
}

/** What an authorisation leaves behind when it is over. */
const CLEARED: ConsentChanges = {
  sealedPending: null,
  sealedAnswer: null,
  sealedUrl: null,
  sealedSca: null,
  formerStatus: null,
  callbackLeaseUntil: null,
};
