import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  problems,
  type AccountAuthorisationRequest,
  type PaymentAuthorisationRequest,
  type PsuHeaders,
} from '#libs/contract';
import { operation } from '#libs/connectors';
import { now } from '#libs/server';
import type { Tenant } from '../auth/tenant.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { paymentIssues, paymentTypeRule } from '../payments/payment-rules.js';
import { accountAccess, accountTerms } from './account-request.rules.js';
import { ConsentOpening, type Opened } from './consent-opening.service.js';

/** Authorisations that begin with the user at the bank: in a browser, or wherever the bank finds its user. */
@Injectable()
export class AuthorisationsService {
  constructor(
    private readonly institutions: InstitutionsService,
    private readonly opening: ConsentOpening,
  ) {}

  /** POST /account-auth-requests. */
  async beginAccount(tenant: Tenant, request: AccountAuthorisationRequest, psu: PsuHeaders): Promise<Opened> {
    const { data, features, connector } = this.institutions.require(request.institutionId);
    const { terms, issues } = accountTerms(request.accountRequest, { features, data }, now());
    this.opening.refuse(tenant, request, { psu, institution: data, issues });
    const initiate = operation(connector, 'INITIATE_ACCOUNT_REQUEST');
    return this.opening.open(tenant, request, psu, {
      ...terms,
      id: randomUUID(),
      kind: 'account',
      asked: request.accountRequest ?? {},
      ask: (call, back) => initiate(call, { ...back, ...accountAccess(request.accountRequest, terms) }),
    });
  }

  /** POST /payment-auth-requests. What is authorised here is all that POST /payments will accept. */
  async beginPayment(tenant: Tenant, request: PaymentAuthorisationRequest, psu: PsuHeaders): Promise<Opened> {
    const institution = this.institutions.require(request.institutionId);
    const payment = request.paymentRequest;
    const issues = paymentIssues(payment, now(), '$.paymentRequest');
    this.opening.refuse(tenant, request, { psu, institution: institution.data, issues });
    const rule = paymentTypeRule(payment.type);
    const { operations } = institution.connector;
    // Every INITIATE_ operation of a payment has the same signature; an institution without the type lacks the key.
    const initiate = operations[rule?.initiate as 'INITIATE_DOMESTIC_SINGLE_PAYMENT'];
    if (rule === undefined || initiate === undefined) throw problems.featureNotSupported();
    const refund = payment.readRefundAccount === true ? rule.refund : undefined;
    const id = randomUUID();
    return this.opening.open(tenant, request, psu, {
      id,
      kind: 'payment',
      featureScope: [
        'EXISTING_PAYMENTS_DETAILS',
        'EXISTING_PAYMENT_INITIATION_DETAILS',
        rule.create,
        ...(refund !== undefined && institution.features.includes(refund) ? [refund] : []),
      ],
      asked: payment,
      ask: (call, back) => initiate(call, payment, { ...back, idempotencyKey: id }),
    });
  }
}
