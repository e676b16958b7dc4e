import { createHash, randomUUID } from 'node:crypto';
import type { Account } from '../account.js';
import type { BerlinGroupBank } from '../banks.js';
import type { BankClock } from '../clock.js';
import type { Store } from '../store.js';
import { dateOf } from './bank-day.js';
import { isNamed, modelOf, type ConsentAsk } from './consent-request.js';
import { canMove, isOpen, isValid, type ConsentStatus } from './consent-state.js';

export interface BerlinConsent {
  id: string;
  bank: string;
  clientId: string;
  status: ConsentStatus;
  createdAt: number;
  statusAt: number;
  authorisedAt: number | undefined;
  ask: ConsentAsk;
  /** Who the TPP says its PSU is. */
  psuId: string | undefined;
  /** Who signed first: the accounts are this person's. */
  persona: string | undefined;
  signers: string[];
  accountIds: string[];
  /** Where the browser goes after a redirect, and where after a refusal. */
  redirects: { ok?: string | undefined; nok?: string | undefined };
  lastReadAt: number | undefined;
}

type ConsentRow = {
  id: string;
  bank: string;
  clientId: string;
  status: string;
  createdAt: number;
  statusAt: number;
  authorisedAt: number | null;
  ask: string;
  psuId: string | null;
  persona: string | null;
  signers: string;
  accountIds: string;
  redirects: string;
  lastReadAt: number | null;
};

/** Consents of every Berlin Group bank, with their state machine. */
export class BerlinConsents {
  constructor(
    private readonly store: Store,
    private readonly clock: BankClock,
  ) {}

  create(made: Pick<BerlinConsent, 'bank' | 'clientId' | 'ask' | 'psuId' | 'redirects'>): BerlinConsent {
    const id = randomUUID();
    const now = this.clock.now();
    this.store.run(
      `INSERT INTO berlin_consents (id, bank, clientId, status, createdAt, statusAt, ask, psuId, signers, accountIds, redirects)
       VALUES (?, ?, ?, 'received', ?, ?, ?, ?, '[]', '[]', ?)`,
      id,
      made.bank,
      made.clientId,
      now,
      now,
      JSON.stringify(made.ask),
      made.psuId ?? null,
      JSON.stringify(made.redirects),
    );
    return this.find(made.bank, id) as BerlinConsent;
  }

  /** The consent as it stands today: one whose last day is over has expired. */
  find(bank: string, id: string): BerlinConsent | undefined {
    const row = this.store.get<ConsentRow>('SELECT * FROM berlin_consents WHERE bank = ? AND id = ?', bank, id);
    if (!row) return undefined;
    const consent = fromRow(row);
    const isOver = dateOf(this.clock.now()) > consent.ask.validUntil;
    return isOver && this.move(consent, 'expired') ? { ...consent, status: 'expired' } : consent;
  }

  /** Compare and set: answers false when the move is not allowed or somebody was quicker. */
  move(consent: BerlinConsent, to: ConsentStatus): boolean {
    if (!canMove(consent.status, to)) return false;
    const sql = 'UPDATE berlin_consents SET status = ?, statusAt = ? WHERE id = ? AND status = ?';
    return this.store.run(sql, to, this.clock.now(), consent.id, consent.status) === 1;
  }

  /** One person has signed. The consent is valid once enough have; answers false when it cannot be signed any more. */
  sign(bank: BerlinGroupBank, consent: BerlinConsent, by: { persona: string; accountIds: string[] }): boolean {
    if (!isOpen(consent.status) || consent.signers.includes(by.persona)) return false;
    const signers = [...consent.signers, by.persona];
    const isEnough = signers.length >= bank.authorisers;
    return this.store.transaction(() => {
      if (!this.move(consent, isEnough ? 'valid' : 'partiallyAuthorised')) return false;
      this.store.run(
        'UPDATE berlin_consents SET signers = ?, persona = ?, accountIds = ?, authorisedAt = ? WHERE id = ?',
        JSON.stringify(signers),
        consent.persona ?? by.persona,
        JSON.stringify(consent.persona === undefined ? by.accountIds : consent.accountIds),
        isEnough ? this.clock.now() : null,
        consent.id,
      );
      if (isEnough && consent.ask.recurringIndicator) this.#endOlder(consent, consent.persona ?? by.persona);
      return true;
    });
  }

  /** The PSU takes the consent back at the bank, or the bank itself ends it. Answers false when there is none to end. */
  withdraw(bank: string, id: string, by: 'psu' | 'bank' = 'psu'): boolean {
    const consent = this.find(bank, id);
    return (
      consent !== undefined && isValid(consent.status) && this.move(consent, by === 'psu' ? 'revokedByPsu' : 'rejected')
    );
  }

  noteRead(consent: BerlinConsent): void {
    this.store.run('UPDATE berlin_consents SET lastReadAt = ? WHERE id = ?', this.clock.now(), consent.id);
  }

  /** Section 6.3: a PSU has one recurring consent with a TPP, so the older one ends when a new one becomes valid. */
  #endOlder(consent: BerlinConsent, persona: string): void {
    const older = this.store.all<ConsentRow>(
      "SELECT * FROM berlin_consents WHERE bank = ? AND clientId = ? AND persona = ? AND id <> ? AND status = 'valid'",
      consent.bank,
      consent.clientId,
      persona,
      consent.id,
    );
    for (const each of older.map(fromRow)) if (each.ask.recurringIndicator) this.move(each, 'terminatedByTpp');
  }
}

interface Rights {
  balances: boolean;
  transactions: boolean;
}

/** What a valid consent opens on one of its accounts, of what the bank tells at all. */
export function rightsOn(bank: BerlinGroupBank, consent: BerlinConsent, account: Account): Rights {
  const { balances, transactions } = rightsIn(consent, account);
  return { balances: balances && bank.tellsBalances, transactions: transactions && bank.tellsTransactions };
}

function rightsIn({ ask }: BerlinConsent, account: Account): Rights {
  const { access } = ask;
  const model = modelOf(access);
  if (model === 'global') return { balances: true, transactions: true };
  if (model === 'list') return { balances: access.availableAccountsWithBalance !== undefined, transactions: false };
  if (model === 'bank-offered') return { balances: !!access.balances, transactions: !!access.transactions };
  return {
    balances: isNamed(access.balances ?? [], account),
    transactions: isNamed(access.transactions ?? [], account),
  };
}

/** How a bank calls an account under a consent. Some banks keep the name, others make a new one for each consent, or at times. */
export function resourceIdOf(bank: BerlinGroupBank, consent: BerlinConsent, accountId: string): string {
  const isOwn = bank.remintsResourceIds || consent.ask.naming !== undefined;
  const matter = `${isOwn ? consent.id : bank.id}|${accountId}`;
  const hex = createHash('sha256').update(matter).digest('hex');
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export const isReadable = (consent: BerlinConsent): boolean => isValid(consent.status);

function fromRow(row: ConsentRow): BerlinConsent {
  return {
    ...row,
    status: row.status as ConsentStatus,
    authorisedAt: row.authorisedAt ?? undefined,
    ask: JSON.parse(row.ask) as ConsentAsk,
    psuId: row.psuId ?? undefined,
    persona: row.persona ?? undefined,
    signers: JSON.parse(row.signers) as string[],
    accountIds: JSON.parse(row.accountIds) as string[],
    redirects: JSON.parse(row.redirects) as BerlinConsent['redirects'],
    lastReadAt: row.lastReadAt ?? undefined,
  };
}
