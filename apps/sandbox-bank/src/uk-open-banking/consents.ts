import { randomUUID } from 'node:crypto';
import { endGrant } from '../oidc/adapter.js';
import type { BankClock } from '../clock.js';
import type { Store } from '../store.js';
import { canMove, type ConsentFamily, type ConsentStatus } from './consent-state.js';

/** What the TPP asked for, kept as sent: an account consent's `Data`, or a payment consent's `Data` and `Risk`. */
export interface ConsentRequest {
  data: Record<string, unknown>;
  risk: Record<string, unknown>;
}

export interface Consent {
  id: string;
  bank: string;
  clientId: string;
  family: ConsentFamily;
  status: ConsentStatus;
  reason: string | undefined;
  createdAt: number;
  statusAt: number;
  authorisedAt: number | undefined;
  expiresAt: number | undefined;
  request: ConsentRequest;
  persona: string | undefined;
  /** The accounts the PSU chose: any number for account access, the debtor's one for a payment. */
  accountIds: string[];
  grantId: string | undefined;
}

type ConsentRow = {
  id: string;
  bank: string;
  clientId: string;
  family: string;
  status: string;
  reason: string | null;
  createdAt: number;
  statusAt: number;
  authorisedAt: number | null;
  expiresAt: number | null;
  request: string;
  persona: string | null;
  accountIds: string;
  grantId: string | null;
};

/** Consents of every bank, with their state machine. */
export class Consents {
  constructor(
    private readonly store: Store,
    private readonly clock: BankClock,
  ) {}

  create(consent: {
    bank: string;
    clientId: string;
    family: ConsentFamily;
    request: ConsentRequest;
    expiresAt?: number | undefined;
  }): Consent {
    const id = `${consent.family === 'account' ? 'aac' : 'pdc'}-${randomUUID()}`;
    const now = this.clock.now();
    this.store.run(
      "INSERT INTO consents (id, bank, clientId, family, status, createdAt, statusAt, expiresAt, request, accountIds) VALUES (?, ?, ?, ?, 'AWAU', ?, ?, ?, ?, '[]')",
      id,
      consent.bank,
      consent.clientId,
      consent.family,
      now,
      now,
      consent.expiresAt ?? null,
      JSON.stringify(consent.request),
    );
    return this.#read('SELECT * FROM consents WHERE id = ?', id) as Consent;
  }

  find(bank: string, id: string): Consent | undefined {
    return this.#read('SELECT * FROM consents WHERE bank = ? AND id = ?', bank, id);
  }

  findByGrant(bank: string, grantId: string): Consent | undefined {
    return this.#read('SELECT * FROM consents WHERE bank = ? AND grantId = ?', bank, grantId);
  }

  /** The PSU approved. Tokens of an earlier authorisation must not be used any more, so they end here. */
  authorise(consent: Consent, by: { persona: string; accountIds: string[]; grantId: string }): boolean {
    if (!this.move(consent, 'AUTH')) return false;
    if (consent.grantId) endGrant(this.store, consent.bank, consent.grantId);
    this.store.run(
      'UPDATE consents SET persona = ?, accountIds = ?, grantId = ?, authorisedAt = ? WHERE id = ?',
      by.persona,
      JSON.stringify(by.accountIds),
      by.grantId,
      this.clock.now(),
      consent.id,
    );
    return true;
  }

  /** Compare and set: answers false when the move is not allowed or somebody was quicker. */
  move(consent: Consent, to: ConsentStatus, reason?: string): boolean {
    if (!canMove(consent.family, consent.status, to)) return false;
    const changed = this.store.run(
      'UPDATE consents SET status = ?, reason = ?, statusAt = ? WHERE id = ? AND status = ?',
      to,
      reason ?? null,
      this.clock.now(),
      consent.id,
      consent.status,
    );
    return changed === 1;
  }

  /** DELETE by the TPP: the consent is as if it had never been, and its tokens end. */
  remove(consent: Consent): void {
    if (!this.move(consent, 'GONE')) return;
    if (consent.grantId) endGrant(this.store, consent.bank, consent.grantId);
  }

  /** The PSU takes an account consent back at the bank, or the bank itself ends it. Answers false when there is none to end. */
  withdraw(bank: string, id: string, by: 'psu' | 'bank' = 'psu'): boolean {
    const consent = this.find(bank, id);
    if (consent === undefined) return false;
    return by === 'psu'
      ? this.move(consent, 'CANC', 'The PSU withdrew the consent at the bank')
      : this.move(consent, 'RJCT', 'The bank no longer accepts the consent');
  }

  #read(sql: string, ...values: string[]): Consent | undefined {
    const row = this.store.get<ConsentRow>(sql, ...values);
    if (!row) return undefined;
    const consent = fromRow(row);
    if (consent.expiresAt !== undefined && consent.expiresAt <= this.clock.now() && this.move(consent, 'EXPD')) {
      return { ...consent, status: 'EXPD', statusAt: consent.expiresAt };
    }
    return consent;
  }
}

function fromRow(row: ConsentRow): Consent {
  return {
    ...row,
    family: row.family as ConsentFamily,
    status: row.status as ConsentStatus,
    reason: row.reason ?? undefined,
    authorisedAt: row.authorisedAt ?? undefined,
    expiresAt: row.expiresAt ?? undefined,
    request: JSON.parse(row.request) as ConsentRequest,
    persona: row.persona ?? undefined,
    accountIds: JSON.parse(row.accountIds) as string[],
    grantId: row.grantId ?? undefined,
  };
}
