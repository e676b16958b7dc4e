import type { Account, Entry } from './account.js';
import { lifeOf } from './account-opening.js';
import { placeByNumber, placeOf, placesOf, type Place } from './chart.js';
import { dayMs, type BankClock } from './clock.js';
import type { EntryDetail } from './happening.js';
import { livedAccount, type Seeding, type SeedOptions } from './history.js';
import { dayOf } from './life.js';
import type { Store } from './store.js';

export interface PageQuery {
  from?: number | undefined;
  to?: number | undefined;
  direction?: 'credits' | 'debits' | undefined;
  /** Both when left out. */
  status?: 'booked' | 'pending' | undefined;
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

  /** Throws the old rows away. Each history is lived anew when somebody first looks at its account. */
  seedWith(options: SeedOptions): void {
    this.store.transaction(() => {
      for (const table of ['accounts', 'closed_accounts', 'entries', 'payments'])
        this.store.run(`DELETE FROM ${table}`);
      this.store.keep('ledger.seed', options.seed);
      this.store.keep('ledger.start', JSON.stringify({ at: this.clock.now(), ...options }));
    });
  }

  accountsOf(bank: string, persona: string): Account[] {
    return placesOf(bank, persona)
      .map(({ id }) => this.account(id))
      .filter((account) => account !== undefined);
  }

  /** The account as it stands now: due rows are booked first. */
  account(id: string): Account | undefined {
    const place = placeOf(id);
    if (!place) return undefined;
    const account = this.#stored(id) ?? this.#open(place);
    return this.#roll(account, place) ? this.#stored(id) : account;
  }

  /** Closes an account for good: it stays known, and can no longer be looked into. False when there is none to close. */
  close(id: string): boolean {
    if (!this.account(id)) return false;
    return this.store.run('INSERT OR IGNORE INTO closed_accounts VALUES (?, ?)', id, this.clock.now()) === 1;
  }

  isClosed({ id }: Account): boolean {
    return this.store.get('SELECT 1 FROM closed_accounts WHERE id = ?', id) !== undefined;
  }

  /** The account of any bank here that a payee's identification names. */
  findByNumber(scheme: string, identification: string): Account | undefined {
    const place = placeByNumber(scheme, identification);
    return place && this.account(place.id);
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
    const { from = 0, to = Number.MAX_SAFE_INTEGER, direction, status, after, limit } = query;
    const sign = { credits: 'AND amountMinor >= 0', debits: 'AND amountMinor < 0', both: '' }[direction ?? 'both'];
    const kept = { booked: 'AND balanceMinor IS NOT NULL', pending: 'AND balanceMinor IS NULL', both: '' }[
      status ?? 'both'
    ];
    return this.store.all<Entry>(
      `SELECT * FROM entries WHERE accountId = ? AND (bookedAt, seq) < (?, ?) AND bookedAt >= ? AND bookedAt <= ?
       AND (madeAt <= ? OR balanceMinor IS NOT NULL) ${sign} ${kept} ORDER BY bookedAt DESC, seq DESC LIMIT ?`,
      account.id,
      after?.bookedAt ?? Number.MAX_SAFE_INTEGER,
      after?.seq ?? Number.MAX_SAFE_INTEGER,
      from,
      to,
      this.clock.now(),
      limit,
    );
  }

  /** One visible row by its id. */
  entry(account: Account, id: string): Entry | undefined {
    return this.store.get<Entry>(
      'SELECT * FROM entries WHERE accountId = ? AND id = ? AND (madeAt <= ? OR balanceMinor IS NOT NULL)',
      account.id,
      id,
      this.clock.now(),
    );
  }

  /** The latest booked row that says this. */
  latest(account: Account, info: string): Entry | undefined {
    return this.store.get<Entry>(
      `SELECT * FROM entries WHERE accountId = ? AND balanceMinor IS NOT NULL AND json_extract(detail, '$.info') = ?
       ORDER BY bookedAt DESC, seq DESC LIMIT 1`,
      account.id,
      info,
    );
  }

  /** What was booked in and out from one instant until before another one. */
  flows(account: Account, from: number, until: number): { creditMinor: number; debitMinor: number } {
    const sql = `SELECT COALESCE(SUM(MAX(amountMinor, 0)), 0) AS creditMinor, COALESCE(SUM(MIN(amountMinor, 0)), 0) AS debitMinor
       FROM entries WHERE accountId = ? AND balanceMinor IS NOT NULL AND bookedAt >= ? AND bookedAt < ?`;
    const none = { creditMinor: 0, debitMinor: 0 };
    return this.store.get<typeof none>(sql, account.id, from, until) ?? none;
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

  #stored(id: string): Account | undefined {
    return this.store.get<Account>('SELECT * FROM accounts WHERE id = ?', id);
  }

  /** Lives an account's history up to the moment of seeding, so it does not matter who looks first, nor when. */
  #open(place: Place): Account {
    const { account, entries } = livedAccount(place, this.#start());
    return this.store.transaction(() => {
      for (const entry of entries) this.#insert(entry);
      const names = Object.keys(account);
      this.store.run(
        `INSERT INTO accounts (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
        ...Object.values(account),
      );
      return account;
    });
  }

  /** What the ledger was seeded with; a file of an older make tells the seed alone. */
  #start(): Seeding {
    const stored = this.store.setting('ledger.start');
    return stored === undefined ? { seed: this.seed ?? '', at: this.clock.now() } : (JSON.parse(stored) as Seeding);
  }

  /** Lives the days that the clock has reached since, and books what is due. Answers whether anything changed. */
  #roll(account: Account, { persona, plan }: Place): boolean {
    const now = this.clock.now();
    const today = Math.floor(now / dayMs);
    const due = this.store.get<{ seq: number }>(
      'SELECT seq FROM entries WHERE accountId = ? AND balanceMinor IS NULL AND bookedAt <= ? LIMIT 1',
      account.id,
      now,
    );
    if (today <= account.generatedTo && !due) return false;
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
