import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems, type Consent, type ConsentAuthCodeRequest } from '#libs/contract';
import { constantTimeEqual, POOL } from '#libs/database';
import { now } from '#libs/server';
import type { Tenant } from '../auth/tenant.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { keepAnswer } from './consent-claims.queries.js';
import { ConsentSecrets } from './consent-secrets.js';
import { awaitsCallback } from './consent-state.js';
import { ConsentSteps } from './consent-steps.service.js';
import { toConsent } from './consent.map.js';
import { findConsent, findConsentByState, type ConsentRow } from './consent.queries.js';

interface KeptAnswer {
  code: string;
  /** Everything the bank sent, as a query. */
  answer: string;
}

/**
 * Authorisations whose user goes back to the client's own address with a code, which the client then sends us. The bank
 * still answers us, and all it sent is kept, sealed: the signed parts of the answer are checked when the code comes.
 */
@Injectable()
export class ConsentCodes {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly steps: ConsentSteps,
    private readonly institutions: InstitutionsService,
  ) {}

  /**
   * Keeps the bank's answer and names the code that stands for it: the bank's own, or a new one where the protocol has none.
   * Undefined when the user is no longer awaited.
   */
  async keep(consent: ConsentRow, answer: URLSearchParams, banksCode: string | undefined): Promise<string | undefined> {
    const code = banksCode ?? randomBytes(24).toString('base64url');
    const kept: KeptAnswer = { code, answer: answer.toString() };
    const sealedAnswer = this.secrets.sealText(consent.id, 'answer', JSON.stringify(kept));
    return (await keepAnswer(this.pool, { id: consent.id, status: consent.status, sealedAnswer })) ? code : undefined;
  }

  /** POST /consent-auth-code: 404 for an unknown state, 400 for a code that is not the one, or has been used. */
  async exchange({ scopeIds }: Tenant, { authCode, authState }: ConsentAuthCodeRequest): Promise<Consent> {
    const found = await findConsentByState(this.pool, authState);
    if (found === undefined || !scopeIds.includes(found.applicationId)) {
      throw problems.notFound({ parameter: '$.authState', message: 'There is no authorisation of this state' });
    }
    const { id, status, sealedAnswer } = found;
    if (!awaitsCallback(status)) throw refused('The authorisation is over: a code is used once');
    if (sealedAnswer === null) throw refused('The institution has not answered this authorisation with a code');
    const kept = JSON.parse(this.secrets.openText(id, 'answer', sealedAnswer)) as KeptAnswer;
    if (!constantTimeEqual(kept.code, authCode)) throw refused('The code is not the one of this authorisation');

    const advance = await this.steps.advance(found, { callback: new URLSearchParams(kept.answer) });
    if (advance.kind === 'underway' || advance.kind === 'finished') throw refused('The code has been used');
    if (advance.kind === 'failed') throw this.institutions.problemOf(advance.error);
    if (advance.kind === 'refused') throw problems.institutionFailed({ errorMessage: advance.reason });
    const row = await findConsent(this.pool, id, scopeIds);
    if (row === undefined) throw problems.conflict({ message: 'The consent was deleted meanwhile' });
    const token = row.sealedToken === null ? undefined : this.secrets.openToken(id, row.sealedToken);
    return toConsent(row, now(), token);
  }
}

function refused(message: string): Error {
  return problems.unexpectedValue({ parameter: '$.authCode', message });
}
