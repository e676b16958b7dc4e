import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { InstitutionError } from '#libs/connectors';
import { asSystem, inScope, POOL } from '#libs/database';
import { ConsentCodes } from '../consents/consent-codes.service.js';
import { awaitsCallback } from '../consents/consent-state.js';
import { ConsentSteps, type Advance } from '../consents/consent-steps.service.js';
import { findConsentByState, type ConsentRow } from '../consents/consent.queries.js';
import { claimOf, stateOf } from './callback-answer.js';
import type { OutcomePage } from './callback-page.js';
import { callbackLocation, redirectLocation, type CallbackOutcome } from './callback-url.js';

/** Where the browser goes: to the application, back to the bank, or to a page of ours. */
export type CallbackResult = { redirect: string } | { page: OutcomePage };

/** Finishes what the user did at the bank, and sends the browser on. */
@Injectable()
export class CallbackService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly steps: ConsentSteps,
    private readonly codes: ConsentCodes,
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
    if (consent.redirectUrl !== null && claimOf(answer, 'error') === undefined) {
      return this.handOver(consent, consent.redirectUrl, answer);
    }
    const advance = await this.steps.advance(consent, { callback: answer });
    if (advance.kind === 'underway' || advance.kind === 'finished') return { page: advance.kind };
    if (advance.kind !== 'waiting') return leave(consent, outcomeOf(advance), answer);
    if (advance.step.kind === 'redirect') return { redirect: advance.step.url };
    return leave(consent, { kind: advance.step.kind === 'further-authorisation' ? 'further' : 'underway' }, answer);
  }

  /** The client exchanges this answer itself: it gets a code for it, at the address it gave. */
  private async handOver(consent: ConsentRow, redirectUrl: string, answer: URLSearchParams): Promise<CallbackResult> {
    const code = await this.codes.keep(consent, answer, claimOf(answer, 'code'));
    if (code === undefined) return { page: 'finished' };
    return { redirect: redirectLocation(redirectUrl, { code, state: consent.state }) };
  }
}

function outcomeOf(advance: Extract<Advance, { kind: 'granted' | 'refused' | 'failed' }>): CallbackOutcome {
  if (advance.kind === 'refused') return refusalOf(advance.reason);
  if (advance.kind === 'failed') return failureOf(advance.error);
  const { consentToken, oneTimeToken } = advance;
  return oneTimeToken === undefined ? { kind: 'consent', consentToken } : { kind: 'one-time-token', oneTimeToken };
}

/** Connectors answer `rejected` when the user refused or gave up, which OAuth calls `access_denied`; a bank's fault is thrown. */
function refusalOf(reason: string): CallbackOutcome {
  return { kind: 'error', error: 'access_denied', source: 'user', description: reason };
}

function failureOf(error: InstitutionError): CallbackOutcome {
  return { kind: 'error', error: 'uncategorized_error', source: 'institution', description: error.message };
}

function leave(consent: ConsentRow, outcome: CallbackOutcome, answer: URLSearchParams): CallbackResult {
  const { callback, redirectUrl, state } = consent;
  if (redirectUrl !== null && outcome.kind === 'error') {
    const { error, description } = outcome;
    return { redirect: redirectLocation(redirectUrl, { error, error_description: description, state }) };
  }
  if (callback === null) return { page: pageOf(outcome) };
  return {
    redirect: callbackLocation({
      callback,
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

function pageOf(outcome: CallbackOutcome): OutcomePage {
  if (outcome.kind === 'further' || outcome.kind === 'underway') return outcome.kind;
  if (outcome.kind !== 'error') return 'authorised';
  return outcome.source === 'user' ? 'refused' : 'failed';
}
