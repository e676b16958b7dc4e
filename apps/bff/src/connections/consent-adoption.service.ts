import { Injectable } from '@nestjs/common';
import type { Consent } from '#libs/contract';
import { SecretBox } from '#libs/database';
import { now } from '#libs/server';
import { ConsentTerms } from '../consents/consent-terms.service.js';
import { planNotices } from '../consents/notice-schedule.js';
import { firstProbe } from '../consents/probe-schedule.js';
import type { ConnectionColumns } from './connections.queries.js';

/** Turns an authorised consent into what a connection keeps of it. */
@Injectable()
export class ConsentAdoption {
  constructor(
    private readonly secrets: SecretBox,
    private readonly terms: ConsentTerms,
  ) {}

  /** All columns at once: the token sealed for this connection alone, the clocks, and what is due because of them. */
  async columnsOf(connection: { id: string; institutionId: string }, consent: Consent): Promise<ConnectionColumns> {
    const { id, institutionId } = connection;
    const terms = await this.terms.of(institutionId, consent);
    const at = now();
    const { nextNoticeAt, noticedDays } = planNotices(terms.stops_at, at);
    const { consentToken } = consent;
    return {
      consent_id: consent.id,
      ...(consentToken === undefined
        ? {}
        : { sealed_consent_token: this.secrets.seal(consentToken, `connection:${id}:consent-token`) }),
      ...terms,
      confirmed_at: null,
      next_notice_at: nextNoticeAt,
      noticed_days: noticedDays,
      next_probe_at: firstProbe(at),
      next_sync_at: at,
      sync_failures: 0,
    };
  }
}
