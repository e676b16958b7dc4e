import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import {
  problems,
  type AuthorisationRequest,
  type ConsentRecord,
  type Feature,
  type Issue,
  type PsuHeaders,
  type ScaMethod,
} from '#libs/contract';
import type { Call, Grant, Institution, Return, Step } from '#libs/connectors';
import { POOL } from '#libs/database';
import { now } from '#libs/server';
import type { Tenant } from '../auth/tenant.js';
import { BankCalls } from '../consents/bank-calls.service.js';
import { accessDays, earliest, reconfirmBy } from '../consents/consent-clocks.js';
import { ConsentSecrets, newState, type ScaChoice } from '../consents/consent-secrets.js';
import { statusOfStep, type Phase, type WaitingStep } from '../consents/consent-state.js';
import { toConsent } from '../consents/consent.map.js';
import { findConsent, insertConsent, type ConsentChanges, type NewConsent } from '../consents/consent.queries.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { UsersService } from '../users/users.service.js';
import { callbackIssues, psuHeaderIssues } from './authorisation-request.rules.js';
import { QrCodes } from './qr-codes.service.js';

/** What differs between one kind of authorisation and another, once the request is in order. */
export interface Terms {
  id: string;
  kind: 'account' | 'payment';
  phase?: Phase;
  /** The user's credentials go to the bank, which may then grant at once. */
  embedded?: boolean;
  featureScope: Feature[];
  expiresAt?: Date;
  transactionFrom?: Date;
  transactionTo?: Date;
  /** What was asked, kept sealed. */
  asked: object;
  ask(call: Call, back: Return): Promise<Step>;
}

/** How far a new consent is. */
type Standing = Pick<NewConsent, 'status'> & ConsentChanges;

/** A new consent as every authorisation answers it. */
export interface Opened extends ConsentRecord {
  authorisationUrl?: string;
  qrCodeUrl?: string;
  scaMethods?: ScaMethod[];
  selectedScaMethod?: ScaMethod;
}

/**
 * Begins authorisations. Everything is checked first, then the bank is asked, and only what the bank has accepted is
 * written, in one statement: a refusal or a crash leaves at most a user and, at the bank, a request that nobody answers.
 */
@Injectable()
export class ConsentOpening {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly banks: BankCalls,
    private readonly institutions: InstitutionsService,
    private readonly users: UsersService,
    private readonly codes: QrCodes,
  ) {}

  /** Refuses a request that is not in order, naming every fault. */
  refuse(
    tenant: Tenant,
    request: AuthorisationRequest,
    found: { psu: PsuHeaders; institution: Institution; issues?: Issue[] },
  ): void {
    const issues = [
      ...callbackIssues(request, {
        registeredCallbacks: tenant.application.callbackUrls,
        allowPlainHttp: this.institutions.allowPlainHttpCallbacks,
      }),
      ...(found.issues ?? []),
      ...psuHeaderIssues(found.psu, found.institution.requiredPsuHeaders),
    ];
    if (issues.length > 0) throw problems.unexpectedValues(issues);
  }

  /** Asks the bank and writes the consent. */
  async open(
    tenant: Tenant,
    request: AuthorisationRequest & { forwardParameters?: string[] },
    psu: PsuHeaders,
    terms: Terms,
  ): Promise<Opened> {
    const user = await this.users.resolve(tenant, request);
    const back = this.back(request.institutionId);
    const step = await this.institutions.asking(() => terms.ask(this.banks.call({ psu }), back));
    const at = now();
    const links = step.kind === 'redirect' ? this.codes.links(terms.id, step.url) : undefined;
    const sca = choiceOf(step);
    const consent: NewConsent = {
      id: terms.id,
      applicationId: tenant.application.id,
      userId: user.id,
      institutionId: request.institutionId,
      kind: terms.kind,
      state: back.state,
      featureScope: terms.featureScope,
      createdAt: at,
      transactionFrom: terms.transactionFrom ?? null,
      transactionTo: terms.transactionTo ?? null,
      callback: request.callback ?? null,
      redirectUrl: request.redirect?.url ?? null,
      oneTimeToken: request.oneTimeToken ?? false,
      forwardParameters: request.forwardParameters ?? null,
      sealedRequest: this.secrets.sealRequest(terms.id, terms.asked),
      embedded: terms.embedded ?? false,
      ...links?.stored,
      ...(sca === undefined ? {} : { sealedSca: this.secrets.sealSca(terms.id, sca) }),
      ...(step.kind === 'authorised' ? this.granted(terms, request, step.grant, at) : this.waiting(terms, step)),
    };
    await insertConsent(this.pool, consent);
    return { ...(await this.shown(terms.id, [tenant.application.id])), ...links?.shown, ...scaMembers(sca) };
  }

  /** How the bank's answer will find the consent: a new state, and our address as it is registered there. */
  back(institutionId: string): Return {
    return { state: newState(), redirectUri: this.institutions.redirectUri(institutionId) };
  }

  /** A consent as it is now, without its token and its clocks: those are given to whoever polls. */
  async shown(id: string, applicationIds: string[]): Promise<ConsentRecord> {
    const row = await findConsent(this.pool, id, applicationIds);
    if (row === undefined) throw problems.conflict({ message: 'The consent was deleted meanwhile' });
    const {
      lastConfirmedAt: _at,
      reconfirmBy: _by,
      isDeletedByInstitution: _deleted,
      ...record
    } = toConsent(row, now());
    return record;
  }

  private waiting(terms: Terms, step: Exclude<Step, { kind: 'authorised' }>): Standing {
    const { kind, pending } = waitingStep(step);
    const status = statusOfStep(kind, terms.phase);
    if (status === undefined) throw unforeseen('The institution asks for what this authorisation cannot give');
    return {
      status,
      expiresAt: earliest(terms.expiresAt ?? null, pending.expiresAt),
      institutionConsentId: pending.institutionConsentId,
      sealedPending: this.secrets.sealGrant(terms.id, pending, 'pending'),
    };
  }

  /** Granted on the credentials alone, which a bank may do where strong authentication is not due (RTS, article 10). */
  private granted(terms: Terms, request: AuthorisationRequest, grant: Grant, at: Date): Standing {
    if (terms.embedded !== true) throw unforeseen('The institution authorised without asking the user');
    const days = accessDays(this.institutions.require(request.institutionId).data);
    const { sealed, hash } = this.secrets.mintToken(terms.id);
    return {
      status: 'AUTHORIZED',
      expiresAt: earliest(terms.expiresAt ?? null, grant.expiresAt),
      institutionConsentId: grant.institutionConsentId,
      authorizedAt: at,
      lastConfirmedAt: at,
      reconfirmBy: reconfirmBy(at, days),
      sealedGrant: this.secrets.sealGrant(terms.id, grant, 'grant'),
      sealedToken: sealed,
      tokenHash: hash,
    };
  }
}

/** A bank that does not even begin to ask the user has failed the request. */
export function waitingStep(step: Step): WaitingStep {
  if ('pending' in step) return step;
  throw unforeseen(step.kind === 'rejected' ? step.reason : 'The institution authorised without asking the user');
}

function unforeseen(errorMessage: string): Error {
  return problems.institutionFailed({ errorMessage });
}

/** What the client shows its user of the methods on offer; a single one counts as chosen. */
function choiceOf(step: Step): ScaChoice | undefined {
  if (step.kind === 'choose-method') return { methods: step.methods };
  if (step.kind !== 'enter-code' || step.method === undefined) return undefined;
  return { methods: [step.method], selected: step.method };
}

/** The choice as the answers of embedded authorisations show it. */
export function scaMembers(choice: ScaChoice | undefined): Pick<Opened, 'scaMethods' | 'selectedScaMethod'> {
  if (choice === undefined) return {};
  const { methods, selected } = choice;
  return { scaMethods: methods, ...(selected === undefined ? {} : { selectedScaMethod: selected }) };
}
