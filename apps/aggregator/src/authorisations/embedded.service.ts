import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems, type Consent, type EmbeddedAccountAuthorisationRequest, type PsuHeaders } from '#libs/contract';
import { operation, type Answer } from '#libs/connectors';
import { POOL } from '#libs/database';
import { now } from '#libs/server';
import type { Tenant } from '../auth/tenant.js';
import { ConsentSecrets, type ScaChoice } from '../consents/consent-secrets.js';
import { wantedOf } from '../consents/consent-state.js';
import { ConsentSteps } from '../consents/consent-steps.service.js';
import { findConsent, type ConsentRow } from '../consents/consent.queries.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { accountAccess, accountTerms } from './account-request.rules.js';
import { psuHeaderIssues, subjectIssues } from './authorisation-request.rules.js';
import { ConsentOpening, scaMembers, type Opened } from './consent-opening.service.js';

/**
 * Authorisations in which the client asks its user for what the bank wants to know: credentials, a method, a code. They
 * pass through to the bank and are kept nowhere.
 */
@Injectable()
export class EmbeddedAuthorisations {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly steps: ConsentSteps,
    private readonly institutions: InstitutionsService,
    private readonly opening: ConsentOpening,
  ) {}

  /** POST /embedded-account-auth-requests. Credentials that the bank refuses are its failure, and leave no consent. */
  async begin(tenant: Tenant, request: EmbeddedAccountAuthorisationRequest, psu: PsuHeaders): Promise<Opened> {
    const { data, features, connector } = this.institutions.require(request.institutionId);
    const { terms, issues } = accountTerms(request.accountRequest, { features, data }, now());
    const who = request.userCredentials;
    const missing = who === undefined ? [fault('$.userCredentials', 'userCredentials is mandatory')] : [];
    this.opening.refuse(tenant, request, {
      psu: known(psu, request),
      institution: data,
      issues: [...missing, ...issues],
    });
    if (who === undefined) throw problems.unexpectedValues(missing);
    const initiate = operation(connector, 'INITIATE_EMBEDDED_ACCOUNT_REQUEST');
    const opened = await this.opening.open(tenant, request, psu, {
      ...terms,
      id: randomUUID(),
      kind: 'account',
      embedded: true,
      asked: request.accountRequest ?? {},
      ask: (call, back) => initiate(call, { ...back, ...accountAccess(request.accountRequest, terms) }, who),
    });
    return embeddedAnswer(opened);
  }

  /** PUT /embedded-account-auth-requests/{consentId}: the chosen method, then the code. */
  async answer(
    tenant: Tenant,
    consentId: string,
    { request, psu }: { request: EmbeddedAccountAuthorisationRequest; psu: PsuHeaders },
  ): Promise<Opened> {
    const consent = await findConsent(this.pool, consentId, tenant.scopeIds);
    if (consent === undefined) throw problems.notFound({ parameter: 'consentId', message: 'There is no such consent' });
    const { requiredPsuHeaders } = this.institutions.require(consent.institutionId).data;
    const issues = [
      ...subjectIssues(request, consent),
      ...(consent.embedded ? [] : [fault('consentId', 'The consent is not authorised with credentials')]),
      ...psuHeaderIssues(
        known(psu, request),
        requiredPsuHeaders.filter((each) => each !== 'id'),
      ),
    ];
    if (issues.length > 0) throw problems.unexpectedValues(issues);

    const advance = await this.steps.advance(consent, this.answerOf(consent, request), psu);
    if (advance.kind === 'failed') throw this.institutions.problemOf(advance.error);
    if (advance.kind === 'refused') throw problems.institutionFailed({ errorMessage: advance.reason });
    if (advance.kind === 'underway' || advance.kind === 'finished') {
      throw problems.conflict({ message: 'Another call is answering this authorisation' });
    }
    const row = await findConsent(this.pool, consentId, tenant.scopeIds);
    const shown = await this.opening.shown(consentId, tenant.scopeIds);
    return embeddedAnswer({ ...shown, ...scaMembers(row && this.choiceOf(row)) });
  }

  /** What the institution is told; a 400 names the member that is missing, or says that nothing is wanted any more. */
  private answerOf(consent: ConsentRow, { selectedScaMethod, scaCode }: EmbeddedAccountAuthorisationRequest): Answer {
    const wanted = wantedOf(consent.status);
    if (wanted === undefined) throw unfit('consentId', 'The authorisation does not wait for a method or a code');
    if (wanted === 'code') {
      if (scaCode === undefined) throw unfit('$.scaCode', 'scaCode is mandatory now');
      return { code: scaCode };
    }
    if (selectedScaMethod === undefined) throw unfit('$.selectedScaMethod', 'selectedScaMethod is mandatory now');
    const method = this.choiceOf(consent)?.methods.find(({ id }) => id === selectedScaMethod.id);
    if (method === undefined) throw unfit('$.selectedScaMethod.id', 'The institution does not offer this method');
    return { method };
  }

  private choiceOf({ id, sealedSca }: ConsentRow): ScaChoice | undefined {
    return sealedSca === null ? undefined : this.secrets.openSca(id, sealedSca);
  }
}

/** The answers of embedded authorisations lack the dates of confirmation; GET /consents/{consentId} has them. */
function embeddedAnswer({ lastConfirmedAt: _last, reconfirmBy: _next, ...answer }: Opened & Confirmed): Opened {
  return answer;
}

type Confirmed = Pick<Consent, 'lastConfirmedAt' | 'reconfirmBy'>;

/** The login in the credentials says what the headers would. */
function known(psu: PsuHeaders, { userCredentials }: EmbeddedAccountAuthorisationRequest): PsuHeaders {
  if (userCredentials === undefined) return psu;
  const { id: psuId, corporateId: psuCorporateId } = userCredentials;
  return { psuId, ...(psuCorporateId === undefined ? {} : { psuCorporateId }), ...psu };
}

function fault(parameter: string, message: string) {
  return { type: 'INVALID_REQUEST', code: 'INVALID_PROPERTY_UNEXPECTED_VALUE', parameter, message };
}

function unfit(parameter: string, message: string): Error {
  return problems.unexpectedValue({ parameter, message });
}
