import type { Account, Entry } from './account.js';
import { banks } from './banks.js';
import { dayMs, type BankClock } from './clock.js';
import { accountIdOf, lifeOf, monthsBefore, numbersOf, rateOf, type Opening } from './account-opening.js';
import type { EntryDetail, Happening } from './happening.js';
import { dayOf } from './life.js';
import { findPersona, personas } from './personas.js';
import type { Store } from './store.js';

export interface SeedOptions {
  seed: string;
  /** Rows wanted on the main persona's current account; about 2,600 when left out. */
  transactions?: number | undefined;
  /** How far back histories reach; 24 when left out. */
  months?: number | undefined;
}

export interface PageQuery {
  from?: number | undefined;
  to?: number | undefined;
  direction?: 'credits' | 'debits' | undefined;
  /** The last row of the page before this one. */
  after?: { bookedAt: number; seq: number } | undefined;
  limit: number;
}

/** What the banks know of everybody's money. Rows become booked by the bank's clock, and later days are lived when the clock reaches them. */
export class Ledger {
  constructor(
    private readonly store: Store,
    private readonly clock: BankClock,
  ) {}

  get seed(): string | undefined {
    return this.store.setting('ledger.seed');
  }

  /** Throws the old rows away and lives every history anew, in one transaction. */
  seedWith(options: SeedOptions): void {
    const { seed, months = 24 } = options;
    const today = Math.floor(this.clock.now() / dayMs);
    const firstDay = monthsBefore(today, months);
    this.store.transaction(() => {
      for (const table of ['accounts', 'entries', 'payments']) this.store.run(`DELETE FROM ${table}`);
      this.store.keep('ledger.seed', seed);
      for (const bank of banks) {
        for (const persona of personas) {
          for (const [position, plan] of persona.accounts.entries()) {
            this.#open({ bank, persona, plan, position, seed, firstDay, today, wanted: options.transactions });
          }
        }
      }
    });
  }

  accountsOf(bank: string, persona: string): Account[] {
    const ids = this.store.all<{ id: string }>(
      'SELECT id FROM accounts WHERE bank = ? AND persona = ? ORDER BY position',
      bank,
      persona,
    );
    return ids.map(({ id }) => this.account(id)).filter((account) => account !== undefined);
  }

  /** The account as it stands now: due rows are booked first. */
  account(id: string): Account | undefined {
    const account = this.store.get<Account>('SELECT * FROM accounts WHERE id = ?', id);
    if (!account) return undefined;
    return this.#roll(account) ? this.store.get<Account>('SELECT * FROM accounts WHERE id = ?', id) : account;
  }

  /** The account of any bank here that a payee's identification names. */
  findByNumber(scheme: string, identification: string): Account | undefined {
    const found = this.store.get<{ id: string }>(
      "SELECT id FROM accounts WHERE (? = 'IBAN' AND iban = ?) OR (? = 'SortCodeAccountNumber' AND sortCode || accountNumber = ?)",
      scheme,
      identification,
      scheme,
      identification,
    );
    return found && this.account(found.id);
  }

  /** `availableMinor` counts pending rows and reserved payments, without the credit line; `closedMinor` is last midnight's. */
  balances(account: Account): { bookedMinor: number; availableMinor: number; closedMinor: number } {
    const now = this.clock.now();
    const midnight = Math.floor(now / dayMs) * dayMs;
    const pending = this.#sum(
      'SELECT SUM(amountMinor) AS total FROM entries WHERE accountId = ? AND balanceMinor IS NULL AND madeAt <= ?',
      account.id,
      now,
    );
    const reserved = this.#sum(
      "SELECT SUM(amountMinor) AS total FROM payments WHERE accountId = ? AND status NOT IN ('ACSC', 'ACCC', 'RJCT')",
      account.id,
    );
    const today = this.#sum(
      'SELECT SUM(amountMinor) AS total FROM entries WHERE accountId = ? AND balanceMinor IS NOT NULL AND bookedAt >= ?',
      account.id,
      midnight,
    );
    return {
      bookedMinor: account.balanceMinor,
      availableMinor: account.balanceMinor + pending - reserved,
      closedMinor: account.balanceMinor - today,
    };
  }

  /** Rows that the account's holder can see, newest booking first. One row more than the limit tells that there is a next page. */
  page(account: Account, query: PageQuery): Entry[] {
    const { from = 0, to = Number.MAX_SAFE_INTEGER, direction, after, limit } = query;
    const sign = { credits: 'AND amountMinor >= 0', debits: 'AND amountMinor < 0', both: '' }[direction ?? 'both'];
    return this.store.all<Entry>(
      `SELECT * FROM entries WHERE accountId = ? AND (bookedAt, seq) < (?, ?) AND bookedAt >= ? AND bookedAt <= ?
       AND (madeAt <= ? OR balanceMinor IS NOT NULL) ${sign} ORDER BY bookedAt DESC, seq DESC LIMIT ?`,
      account.id,
      after?.bookedAt ?? Number.MAX_SAFE_INTEGER,
      after?.seq ?? Number.MAX_SAFE_INTEGER,
      from,
      to,
      this.clock.now(),
      limit,
    );
  }

  /** Books a row now. Call inside a transaction; answers the row's id. */
  post(accountId: string, row: { id: string; amountMinor: number; detail: EntryDetail }): string {
    const account = this.store.get<Account>('SELECT * FROM accounts WHERE id = ?', accountId);
    if (!account) throw new Error('no such account');
    const bookedAt = Math.max(this.clock.now(), account.lastBookedAt);
    const balanceMinor = account.balanceMinor + row.amountMinor;
    this.#insert({
      accountId,
      seq: account.nextSeq,
      madeAt: bookedAt,
      bookedAt,
      balanceMinor,
      id: row.id,
      amountMinor: row.amountMinor,
      detail: JSON.stringify(row.detail),
    });
    this.store.run(
      'UPDATE accounts SET balanceMinor = ?, lastBookedAt = ?, nextSeq = nextSeq + 1 WHERE id = ?',
      balanceMinor,
      bookedAt,
      accountId,
    );
    return row.id;
  }

  #sum(sql: string, ...values: (string | number)[]): number {
    return this.store.get<{ total: number | null }>(sql, ...values)?.total ?? 0;
  }

  #insert(entry: Entry): void {
    this.store.run(
      'INSERT INTO entries (accountId, seq, id, madeAt, bookedAt, amountMinor, balanceMinor, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      entry.accountId,
      entry.seq,
      entry.id,
      entry.madeAt,
      entry.bookedAt,
      entry.amountMinor,
      entry.balanceMinor,
      entry.detail,
    );
  }

  #open(opening: Opening): void {
    const { bank, persona, plan, position, firstDay, today } = opening;
    const rate = rateOf(opening);
    const life = lifeOf(opening.seed, bank.id, persona, plan, rate);
    const rows: Happening[] = [];
    for (let day = firstDay; day <= today; day += 1) rows.push(...dayOf(life, day));
    // Rows keep the order in which they are booked, as on a statement.
    rows.sort((one, other) => one.bookedAt - other.bookedAt || one.madeAt - other.madeAt);
    const accountId = accountIdOf(bank.id, persona.id, plan.kind);
    const now = this.clock.now();
    let balance = plan.openingMinor;
    let lastBookedAt = firstDay * dayMs;
    for (const [seq, row] of rows.entries()) {
      const isBooked = row.bookedAt <= now;
      if (isBooked) {
        balance += row.amountMinor;
        lastBookedAt = row.bookedAt;
      }
      this.#insert({
        accountId,
        seq,
        ...row,
        balanceMinor: isBooked ? balance : null,
        detail: JSON.stringify(row.detail),
      });
    }
    const numbers = numbersOf(bank, persona, plan);
    this.store.run(
      `INSERT INTO accounts (id, bank, persona, kind, position, holder, nickname, description, currency, sortCode, accountNumber, iban, maskedPan,
        openedAt, firstDay, generatedTo, rate, openingMinor, balanceMinor, creditLimitMinor, lastBookedAt, nextSeq)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      accountId,
      bank.id,
      persona.id,
      plan.kind,
      position,
      persona.name,
      plan.nickname,
      plan.description,
      plan.currency,
      numbers.sortCode,
      numbers.accountNumber,
      numbers.iban,
      numbers.maskedPan,
      (firstDay - 400) * dayMs,
      firstDay,
      today,
      rate,
      plan.openingMinor,
      balance,
      plan.creditLimitMinor,
      lastBookedAt,
      rows.length,
    );
  }

  /** Lives the days that the clock has reached since, and books what is due. Answers whether anything changed. */
  #roll(account: Account): boolean {
    const now = this.clock.now();
    const today = Math.floor(now / dayMs);
    const due = this.store.get<{ seq: number }>(
      'SELECT seq FROM entries WHERE accountId = ? AND balanceMinor IS NULL AND bookedAt <= ? LIMIT 1',
      account.id,
      now,
    );
    if (today <= account.generatedTo && !due) return false;
    const persona = findPersona(account.persona);
    const plan = persona?.accounts.find((each) => each.kind === account.kind);
    if (!persona || !plan) return false;
    this.store.transaction(() => {
      const life = lifeOf(this.seed ?? '', account.bank, persona, plan, account.rate);
      let { nextSeq, balanceMinor, lastBookedAt } = account;
      for (let day = account.generatedTo + 1; day <= today; day += 1) {
        for (const row of dayOf(life, day)) {
          this.#insert({
            accountId: account.id,
            seq: nextSeq,
            ...row,
            balanceMinor: null,
            detail: JSON.stringify(row.detail),
          });
          nextSeq += 1;
        }
      }
      const rows = this.store.all<Entry>(
        'SELECT * FROM entries WHERE accountId = ? AND balanceMinor IS NULL AND bookedAt <= ? ORDER BY bookedAt, seq',
        account.id,
        now,
      );
      for (const row of rows) {
        balanceMinor += row.amountMinor;
        // A payment may have been booked after this row was due: it then goes behind it, so that running balances stay in order.
        lastBookedAt = Math.max(lastBookedAt, row.bookedAt);
        this.store.run(
          'UPDATE entries SET balanceMinor = ?, bookedAt = ? WHERE accountId = ? AND seq = ?',
          balanceMinor,
          lastBookedAt,
          account.id,
          row.seq,
        );
      }
      this.store.run(
        'UPDATE accounts SET balanceMinor = ?, lastBookedAt = ?, nextSeq = ?, generatedTo = MAX(generatedTo, ?) WHERE id = ?',
        balanceMinor,
        lastBookedAt,
        nextSeq,
        today,
        account.id,
      );
    });
    return true;
  }
}
