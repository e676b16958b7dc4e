import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import {
  problems,
  type AccountAuthorisationRequest,
  type AccountAuthorisationResponse,
  type AuthorisationRequest,
  type Feature,
  type Issue,
  type PaymentAuthorisationRequest,
  type PaymentAuthorisationRequestResponse,
  type PsuHeaders,
} from '#libs/contract';
import { operation, type Call, type Grant, type Institution, type Return, type Step } from '#libs/connectors';
import { POOL } from '#libs/database';
import { now } from '#libs/server';
import type { Tenant } from '../auth/tenant.js';
import { BankCalls } from '../consents/bank-calls.service.js';
import { ConsentSecrets, newState } from '../consents/consent-secrets.js';
import { statusOfStep } from '../consents/consent-state.js';
import { toConsent } from '../consents/consent.map.js';
import { findConsent, insertConsent, type NewConsent } from '../consents/consent.queries.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { paymentIssues, paymentTypeRule } from '../payments/payment-rules.js';
import { UsersService } from '../users/users.service.js';
import { accountTerms } from './account-request.rules.js';
import { callbackIssues, psuHeaderIssues } from './authorisation-request.rules.js';

/** What differs between an account and a payment authorisation, once the request is in order. */
interface Terms {
  id: string;
  kind: 'account' | 'payment';
  featureScope: Feature[];
  expiresAt: Date | null;
  transactionFrom: Date | null;
  transactionTo: Date | null;
  /** What was asked, kept sealed. */
  asked: object;
  ask(call: Call, back: Return): Promise<Step>;
}

/**
 * Begins authorisations. Everything is checked first, then the bank is asked, and only what the bank has accepted is
 * written, in one statement: a refusal or a crash leaves at most a user and, at the bank, a request that nobody answers.
 */
@Injectable()
export class AuthorisationsService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly banks: BankCalls,
    private readonly institutions: InstitutionsService,
    private readonly users: UsersService,
  ) {}

  /** POST /account-auth-requests. */
  async beginAccount(
    tenant: Tenant,
    request: AccountAuthorisationRequest,
    psu: PsuHeaders,
  ): Promise<AccountAuthorisationResponse> {
    const institution = this.institutions.require(request.institutionId);
    const { features, connector } = institution;
    const { terms, issues } = accountTerms(
      request.accountRequest,
      { features, maxDays: institution.data.maxConsentDays },
      now(),
    );
    this.refuse(tenant, request, { psu, institution: institution.data, issues });
    const initiate = operation(connector, 'INITIATE_ACCOUNT_REQUEST');
    const { accountIdentifiers, accountIdentifiersForBalance, accountIdentifiersForTransaction } =
      request.accountRequest ?? {};
    const accounts = [
      ...(accountIdentifiers ? [accountIdentifiers] : []),
      ...(accountIdentifiersForBalance ?? []),
      ...(accountIdentifiersForTransaction ?? []),
    ];
    return this.begin(tenant, request, psu, {
      id: randomUUID(),
      kind: 'account',
      featureScope: terms.featureScope,
      expiresAt: terms.expiresAt,
      transactionFrom: terms.transactionFrom ?? null,
      transactionTo: terms.transactionTo ?? null,
      asked: request.accountRequest ?? {},
      ask: (call, back) => initiate(call, { ...back, ...terms, ...(accounts.length > 0 ? { accounts } : {}) }),
    });
  }

  /** POST /payment-auth-requests. What is authorised here is all that POST /payments will accept. */
  async beginPayment(
    tenant: Tenant,
    request: PaymentAuthorisationRequest,
    psu: PsuHeaders,
  ): Promise<PaymentAuthorisationRequestResponse> {
    const institution = this.institutions.require(request.institutionId);
    const payment = request.paymentRequest;
    const issues = paymentIssues(payment, now(), '$.paymentRequest');
    this.refuse(tenant, request, { psu, institution: institution.data, issues });
    const rule = paymentTypeRule(payment.type);
    const { operations } = institution.connector;
    // Every INITIATE_ operation of a payment has the same signature; an institution without the type lacks the key.
    const initiate = operations[rule?.initiate as 'INITIATE_DOMESTIC_SINGLE_PAYMENT'];
    if (rule === undefined || initiate === undefined) throw problems.featureNotSupported();
    const refund = payment.readRefundAccount === true ? rule.refund : undefined;
    const id = randomUUID();
    return this.begin(tenant, request, psu, {
      id,
      kind: 'payment',
      featureScope: [
        'EXISTING_PAYMENTS_DETAILS',
        'EXISTING_PAYMENT_INITIATION_DETAILS',
        rule.create,
        ...(refund !== undefined && institution.features.includes(refund) ? [refund] : []),
      ],
      expiresAt: null,
      transactionFrom: null,
      transactionTo: null,
      asked: payment,
      ask: (call, back) => initiate(call, payment, { ...back, idempotencyKey: id }),
    });
  }

  private refuse(
    tenant: Tenant,
    request: AuthorisationRequest,
    found: { psu: PsuHeaders; institution: Institution; issues: Issue[] },
  ): void {
    const issues = [
      ...callbackIssues(request, {
        registeredCallbacks: tenant.application.callbackUrls,
        allowPlainHttp: this.institutions.allowPlainHttpCallbacks,
      }),
      ...found.issues,
      ...psuHeaderIssues(found.psu, found.institution.requiredPsuHeaders),
    ];
    if (issues.length > 0) throw problems.unexpectedValues(issues);
  }

  private async begin(
    tenant: Tenant,
    request: AuthorisationRequest & { forwardParameters?: string[] },
    psu: PsuHeaders,
    terms: Terms,
  ): Promise<AccountAuthorisationResponse & PaymentAuthorisationRequestResponse> {
    const user = await this.users.resolve(tenant, request);
    const state = newState();
    const back = { state, redirectUri: this.institutions.redirectUri(request.institutionId) };
    const step = waiting(await this.institutions.asking(() => terms.ask(this.banks.call({ psu }), back)));
    const { pending } = step;
    const consent: NewConsent = {
      id: terms.id,
      applicationId: tenant.application.id,
      userId: user.id,
      institutionId: request.institutionId,
      kind: terms.kind,
      status: statusOfStep(step.kind),
      state,
      featureScope: terms.featureScope,
      createdAt: now(),
      expiresAt: earliest(terms.expiresAt, pending.expiresAt),
      transactionFrom: terms.transactionFrom,
      transactionTo: terms.transactionTo,
      institutionConsentId: pending.institutionConsentId,
      sealedPending: this.secrets.sealGrant(terms.id, pending, 'pending'),
      callback: request.callback ?? null,
      oneTimeToken: request.oneTimeToken ?? false,
      forwardParameters: request.forwardParameters ?? null,
      sealedRequest: this.secrets.sealRequest(terms.id, terms.asked),
    };
    await insertConsent(this.pool, consent);
    const row = await findConsent(this.pool, terms.id, [tenant.application.id]);
    if (row === undefined) throw problems.conflict({ message: 'The consent was deleted meanwhile' });
    return { ...toConsent(row, now()), ...(step.kind === 'redirect' ? { authorisationUrl: step.url } : {}) };
  }
}

type WaitingStep = Extract<Step, { pending: Grant }>;

/** A bank that does not even begin to ask the user has failed the request. */
function waiting(step: Step): WaitingStep {
  if ('pending' in step) return step;
  const errorMessage = step.kind === 'rejected' ? step.reason : 'The institution authorised without asking the user';
  throw problems.institutionFailed({ errorMessage });
}

function earliest(ours: Date | null, banks: Date | undefined): Date | null {
  if (ours === null || banks === undefined) return ours ?? banks ?? null;
  return ours < banks ? ours : banks;
}
