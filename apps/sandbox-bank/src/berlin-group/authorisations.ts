import { randomUUID } from 'node:crypto';
import type { BankClock } from '../clock.js';
import type { Store } from '../store.js';
import { isFinal, type ScaStatus } from './consent-state.js';
import type { BerlinConsent, BerlinConsents } from './consents.js';

/** How long a PSU may take for one authorisation, by the bank's clock. */
const lifeMs = 15 * 60_000;

/** One person's SCA for one consent. */
export type Authorisation = {
  id: string;
  bank: string;
  consentId: string;
  scaStatus: ScaStatus;
  psuId: string | null;
  methodId: string | null;
  failures: number;
  createdAt: number;
  /** What binds the visit to the browser that opened it first. */
  browser: string | null;
};

/** The sub-resource `authorisations` of every consent. */
export class Authorisations {
  constructor(
    private readonly store: Store,
    private readonly clock: BankClock,
    private readonly consents: BerlinConsents,
  ) {}

  start(consent: BerlinConsent, scaStatus: ScaStatus, psuId: string | undefined): Authorisation {
    const id = randomUUID();
    this.store.run(
      'INSERT INTO berlin_authorisations (id, bank, consentId, scaStatus, psuId, failures, createdAt) VALUES (?, ?, ?, ?, ?, 0, ?)',
      id,
      consent.bank,
      consent.id,
      scaStatus,
      psuId ?? null,
      this.clock.now(),
    );
    return this.find(consent.bank, id) as Authorisation;
  }

  /** The authorisation as it stands now: one that took too long has failed, and the consent with it. */
  find(bank: string, id: string): Authorisation | undefined {
    const sql = 'SELECT * FROM berlin_authorisations WHERE bank = ? AND id = ?';
    const found = this.store.get<Authorisation>(sql, bank, id);
    if (!found || isFinal(found.scaStatus) || found.createdAt + lifeMs > this.clock.now()) return found;
    this.fail(found);
    return { ...found, scaStatus: 'failed' };
  }

  listOf(consent: BerlinConsent): Authorisation[] {
    const sql = 'SELECT id FROM berlin_authorisations WHERE bank = ? AND consentId = ? ORDER BY createdAt, id';
    return this.store
      .all<{ id: string }>(sql, consent.bank, consent.id)
      .map(({ id }) => this.find(consent.bank, id))
      .filter((each) => each !== undefined);
  }

  /** The open authorisations of one bank, for the page that stands in for the PSUs' devices. */
  waiting(bank: string): Authorisation[] {
    const sql = "SELECT id FROM berlin_authorisations WHERE bank = ? AND scaStatus = 'started' ORDER BY createdAt";
    return this.store
      .all<{ id: string }>(sql, bank)
      .map(({ id }) => this.find(bank, id))
      .filter((each) => each !== undefined && !isFinal(each.scaStatus)) as Authorisation[];
  }

  change(
    authorisation: Authorisation,
    to: Partial<Pick<Authorisation, 'scaStatus' | 'psuId' | 'methodId'>>,
  ): Authorisation {
    const next = { ...authorisation, ...to };
    this.store.run(
      'UPDATE berlin_authorisations SET scaStatus = ?, psuId = ?, methodId = ? WHERE id = ?',
      next.scaStatus,
      next.psuId,
      next.methodId,
      next.id,
    );
    return next;
  }

  /** The SCA failed or was refused: nobody can sign the consent any more. */
  fail(authorisation: Authorisation): void {
    this.change(authorisation, { scaStatus: 'failed' });
    const consent = this.consents.find(authorisation.bank, authorisation.consentId);
    if (consent) this.consents.move(consent, 'rejected');
  }

  /** Counts a wrong password or code; answers how many there have been. */
  countFailure(authorisation: Authorisation): number {
    this.store.run('UPDATE berlin_authorisations SET failures = failures + 1 WHERE id = ?', authorisation.id);
    return authorisation.failures + 1;
  }

  bind(authorisation: Authorisation, browser: string): void {
    this.store.run(
      'UPDATE berlin_authorisations SET browser = ? WHERE id = ? AND browser IS NULL',
      browser,
      authorisation.id,
    );
  }
}
