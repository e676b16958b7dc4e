import type { Account, Entry } from './account.js';
import { lifeOf, monthsBefore, rateOf } from './account-opening.js';
import { placeByNumber, placeOf, placesOf, type Place } from './chart.js';
import { dayMs, type BankClock } from './clock.js';
import type { EntryDetail, Happening } from './happening.js';
import { dayOf } from './life.js';
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
      for (const table of ['accounts', 'entries', 'payments']) this.store.run(`DELETE FROM ${table}`);
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

  /** Lives an account's history as of the moment of seeding, so it does not matter who looks first, nor when. */
  #open(place: Place): Account {
    const { id, bank, persona, plan, position, numbers } = place;
    const { seed, at, transactions: wanted, months = 24 } = this.#start();
    const today = Math.floor(at / dayMs);
    const firstDay = monthsBefore(today, months);
    const rate = rateOf({ bank, persona, plan, seed, firstDay, today, wanted });
    const life = lifeOf(seed, bank.id, persona, plan, rate);
    const rows: Happening[] = [];
    for (let day = firstDay; day <= today; day += 1) rows.push(...dayOf(life, day));
    // Rows keep the order in which they are booked, as on a statement.
    rows.sort((one, other) => one.bookedAt - other.bookedAt || one.madeAt - other.madeAt);
    return this.store.transaction(() => {
      let balanceMinor = plan.openingMinor;
      let lastBookedAt = firstDay * dayMs;
      for (const [seq, row] of rows.entries()) {
        const isBooked = row.bookedAt <= at;
        if (isBooked) {
          balanceMinor += row.amountMinor;
          lastBookedAt = row.bookedAt;
        }
        const detail = JSON.stringify(row.detail);
        this.#insert({ accountId: id, seq, ...row, balanceMinor: isBooked ? balanceMinor : null, detail });
      }
      const account: Account = {
        id,
        bank: bank.id,
        persona: persona.id,
        kind: plan.kind,
        position,
        holder: persona.name,
        nickname: plan.nickname,
        description: plan.description,
        currency: plan.currency,
        ...numbers,
        openedAt: (firstDay - 400) * dayMs,
        firstDay,
        generatedTo: today,
        rate,
        openingMinor: plan.openingMinor,
        balanceMinor,
        creditLimitMinor: plan.creditLimitMinor,
        lastBookedAt,
        nextSeq: rows.length,
      };
      const names = Object.keys(account);
      this.store.run(
        `INSERT INTO accounts (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
        ...Object.values(account),
      );
      return account;
    });
  }

  /** What the ledger was seeded with; a file of an older make tells the seed alone. */
  #start(): SeedOptions & { at: number } {
    const stored = this.store.setting('ledger.start');
    return stored === undefined
      ? { seed: this.seed ?? '', at: this.clock.now() }
      : (JSON.parse(stored) as SeedOptions & { at: number });
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
