import { Injectable } from '@nestjs/common';
import type { Consent } from '#libs/contract';
import { createLogger, now } from '#libs/server';
import { InstitutionsService } from '../connections/institutions.service.js';
import { type ConsentRule, ruleOf } from './consent-rules.js';
import { type TermColumns, termsOf } from './consent-terms.js';

/** Works out a consent's clocks under the law of its institution's countries. */
@Injectable()
export class ConsentTerms {
  private readonly log = createLogger('consents');

  constructor(private readonly institutions: InstitutionsService) {}

  async of(institutionId: string, consent: Consent): Promise<TermColumns> {
    return termsOf(consent, await this.rule(institutionId), now());
  }

  /** Without the institution's record only what the consent says itself counts; the next probe reads it again. */
  async rule(institutionId: string): Promise<ConsentRule> {
    try {
      const found = (await this.institutions.list()).find(({ id }) => id === institutionId);
      if (found) return ruleOf(found.countries);
    } catch (error) {
      this.log.warn({ err: error, institutionId }, 'an institution’s record could not be read');
    }
    return ruleOf([]);
  }
}
