import type { Consent } from '#libs/contract';
import type { ConsentRule } from './consent-rules.js';
import { runningClocks, scaUntil, type StopCause, stopOf } from './consent-clocks.js';

/** What a connection's row keeps of its consent's terms. */
export interface TermColumns {
  authorised_at: Date | null;
  expires_at: Date | null;
  reconfirm_by: Date | null;
  reconfirmable: boolean;
  sca_until: Date | null;
  stops_at: Date | null;
  stop_cause: StopCause | null;
  features: string[];
}

type Terms = Pick<Consent, 'authorizedAt' | 'expiresAt' | 'reconfirmBy' | 'featureScope'>;

/** The terms of a consent under a country's rule, all clocks worked out; this is the one place that does. */
export function termsOf(consent: Terms, rule: ConsentRule, authorisedAtLatest: Date): TermColumns {
  const dates = {
    authorisedAt: instant(consent.authorizedAt) ?? authorisedAtLatest,
    expiresAt: instant(consent.expiresAt),
    reconfirmBy: instant(consent.reconfirmBy),
  };
  const sca = scaUntil(dates.authorisedAt, rule);
  const stop = stopOf(runningClocks({ ...dates, scaUntil: sca }, rule), dates.authorisedAt);
  return {
    authorised_at: dates.authorisedAt,
    expires_at: dates.expiresAt,
    reconfirm_by: dates.reconfirmBy,
    reconfirmable: rule.isReconfirmable,
    sca_until: sca,
    stops_at: stop?.at ?? null,
    stop_cause: stop?.cause ?? null,
    features: [...(consent.featureScope ?? [])],
  };
}

function instant(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(text);
}
