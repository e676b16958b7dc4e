import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Consent } from '#libs/contract';
import { POOL } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { InstitutionsService } from '../connections/institutions.service.js';
import { type ConsentRule, overridden, type RuleOverride, ruleOf } from './consent-rules.js';
import { type TermColumns, termsOf } from './consent-terms.js';

/** Works out a consent's clocks under the law of its institution's countries, and what is known of the institution itself. */
@Injectable()
export class ConsentTerms {
  private readonly log = createLogger('consents');

  constructor(
    private readonly institutions: InstitutionsService,
    @Inject(POOL) private readonly pool: Pool,
  ) {}

  async of(institutionId: string, consent: Consent): Promise<TermColumns> {
    return termsOf(consent, await this.rule(institutionId), now());
  }

  /** What the operator has set for the institution counts before the law of its countries. */
  async rule(institutionId: string): Promise<ConsentRule> {
    const { rows } = await this.pool.query<RuleOverride>(
      'select sca_days as "scaDays", reconfirmable as "isReconfirmable" from institution_reaches where institution_id = $1',
      [institutionId],
    );
    const byLaw = await this.ruleByLaw(institutionId);
    return rows[0] ? overridden(byLaw, rows[0]) : byLaw;
  }

  /** Without the institution's record only what the consent says itself counts; the next probe reads it again. */
  private async ruleByLaw(institutionId: string): Promise<ConsentRule> {
    try {
      const found = (await this.institutions.list()).find(({ id }) => id === institutionId);
      if (found) return ruleOf(found.countries);
    } catch (error) {
      this.log.warn({ err: error, institutionId }, 'an institution’s record could not be read');
    }
    return ruleOf([]);
  }
}
