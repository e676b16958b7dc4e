import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import {
  problems,
  type AccountAuthorisationRequest,
  type ConsentRecord,
  type PaymentPreAuthorisationRequest,
  type PreAuthorisationRequest,
  type PsuHeaders,
} from '#libs/contract';
import { operation } from '#libs/connectors';
import { POOL } from '#libs/database';
import { now } from '#libs/server';
import type { Tenant } from '../auth/tenant.js';
import { BankCalls } from '../consents/bank-calls.service.js';
import { earliest } from '../consents/consent-clocks.js';
import { ConsentSecrets } from '../consents/consent-secrets.js';
import { isPreAuthorised, statusOfStep } from '../consents/consent-state.js';
import { moveConsent, type ConsentRow } from '../consents/consent.queries.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { accountAccess, accountTerms } from './account-request.rules.js';
import { paymentScopeIssues, subjectIssues } from './authorisation-request.rules.js';
import { ConsentOpening, waitingStep, type Opened } from './consent-opening.service.js';
import { QrCodes } from './qr-codes.service.js';

/** Authorisation in two steps, at institutions that want to know the user before they hear what is wanted. */
@Injectable()
export class PreAuthorisation {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly banks: BankCalls,
    private readonly institutions: InstitutionsService,
    private readonly opening: ConsentOpening,
    private readonly codes: QrCodes,
  ) {}

  /** POST /pre-auth-requests: the first step. */
  async begin(tenant: Tenant, request: PreAuthorisationRequest, psu: PsuHeaders): Promise<Opened> {
    const { data, connector } = this.institutions.require(request.institutionId);
    this.opening.refuse(tenant, request, { psu, institution: data });
    const initiate = operation(connector, 'INITIATE_PRE_AUTHORISATION');
    const { scope } = request;
    return this.opening.open(tenant, request, psu, {
      id: randomUUID(),
      kind: scope === 'AIS' ? 'account' : 'payment',
      phase: 'pre-authorisation',
      featureScope: ['INITIATE_PRE_AUTHORISATION'],
      asked: { scope },
      ask: (call, back) => initiate(call, { ...back, scope }),
    });
  }

  /** POST /payment-pre-auth-requests: the first step of one payment, which is kept with the consent. */
  async beginPayment(tenant: Tenant, request: PaymentPreAuthorisationRequest, psu: PsuHeaders): Promise<Opened> {
    const { data, connector } = this.institutions.require(request.institutionId);
    this.opening.refuse(tenant, request, { psu, institution: data, issues: paymentScopeIssues(request) });
    const initiate = operation(connector, 'INITIATE_ONETIME_PRE_AUTHORISATION_PAYMENTS');
    const { scope, payee, payer, amount, reference } = request;
    return this.opening.open(tenant, request, psu, {
      id: randomUUID(),
      kind: 'payment',
      phase: 'pre-authorisation',
      featureScope: ['INITIATE_ONETIME_PRE_AUTHORISATION_PAYMENTS'],
      asked: { scope, payee, payer, amount, reference },
      ask: (call, back) => initiate(call, back),
    });
  }

  /** PUT /account-auth-requests: the second step, under the token that the first one ended with. */
  async continueAccount(
    tenant: Tenant,
    consent: ConsentRow,
    { request, psu }: { request: AccountAuthorisationRequest; psu: PsuHeaders },
  ): Promise<ConsentRecord> {
    const { id, status: from } = consent;
    const grant = this.preAuthorised(consent);
    const { data, features, connector } = this.institutions.require(consent.institutionId);
    const at = now();
    const { terms, issues } = accountTerms(request.accountRequest, { features, data }, at);
    this.opening.refuse(tenant, request, {
      psu,
      institution: data,
      issues: [...subjectIssues(request, consent), ...issues],
    });

    const initiate = operation(connector, 'INITIATE_ACCOUNT_REQUEST');
    const back = this.opening.back(consent.institutionId);
    const access = { ...back, ...accountAccess(request.accountRequest, terms), preAuthorised: grant };
    const step = waitingStep(await this.institutions.asking(() => initiate(this.banks.call({ psu }), access)));
    const to = statusOfStep(step.kind);
    if (to === undefined) throw new Error(`Nobody can wait for a ${step.kind}`);
    const links = step.kind === 'redirect' ? this.codes.links(id, step.url) : undefined;
    const moved = await moveConsent(this.pool, {
      id,
      from,
      to,
      at,
      changes: {
        state: back.state,
        featureScope: ['INITIATE_PRE_AUTHORISATION', ...terms.featureScope],
        transactionFrom: terms.transactionFrom ?? null,
        transactionTo: terms.transactionTo ?? null,
        expiresAt: earliest(terms.expiresAt ?? null, step.pending.expiresAt),
        institutionConsentId: step.pending.institutionConsentId,
        sealedPending: this.secrets.sealGrant(id, step.pending, 'pending'),
        sealedGrant: null,
        sealedRequest: this.secrets.sealRequest(id, request.accountRequest ?? {}),
        callback: request.callback ?? null,
        redirectUrl: request.redirect?.url ?? null,
        oneTimeToken: request.oneTimeToken ?? false,
        forwardParameters: request.forwardParameters ?? null,
        ...links?.stored,
      },
    });
    if (!moved) throw problems.conflict({ message: 'The consent has meanwhile been changed by another call' });
    return { ...(await this.opening.shown(id, [consent.applicationId])), ...links?.shown };
  }

  private preAuthorised({ id, kind, status, expiresAt, sealedGrant }: ConsentRow) {
    const message =
      !isPreAuthorised(status) || sealedGrant === null
        ? 'The consent is not one that has been pre-authorised'
        : kind !== 'account'
          ? 'The consent was pre-authorised for a payment'
          : undefined;
    if (message !== undefined || sealedGrant === null)
      throw problems.unexpectedValue({ parameter: 'consent', message });
    if (expiresAt !== null && expiresAt <= now()) {
      throw problems.consentNotAuthorised({ parameter: 'consent', message: 'The consent has expired' });
    }
    return this.secrets.openGrant(id, sealedGrant, 'grant');
  }
}
