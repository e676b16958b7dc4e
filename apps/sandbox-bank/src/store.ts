import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';

/** A row as SQLite hands it over; declare row types with `type`, so that they fit. */
export type Row = Record<string, SQLOutputValue>;

// Instants are epoch milliseconds by the bank's clock, money is minor units.
const schema = `
CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS accounts (
  id TEXT PRIMARY KEY, bank TEXT NOT NULL, persona TEXT NOT NULL, kind TEXT NOT NULL, position INTEGER NOT NULL,
  holder TEXT NOT NULL, nickname TEXT NOT NULL, description TEXT NOT NULL, currency TEXT NOT NULL,
  sortCode TEXT, accountNumber TEXT, iban TEXT, maskedPan TEXT,
  openedAt INTEGER NOT NULL, firstDay INTEGER NOT NULL, generatedTo INTEGER NOT NULL, rate REAL NOT NULL,
  openingMinor INTEGER NOT NULL, balanceMinor INTEGER NOT NULL, creditLimitMinor INTEGER NOT NULL,
  lastBookedAt INTEGER NOT NULL, nextSeq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS closed_accounts (id TEXT PRIMARY KEY, closedAt INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entries (
  accountId TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, madeAt INTEGER NOT NULL, bookedAt INTEGER NOT NULL,
  amountMinor INTEGER NOT NULL, balanceMinor INTEGER, detail TEXT NOT NULL, PRIMARY KEY (accountId, seq)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_by_booking ON entries (accountId, bookedAt, seq);
CREATE INDEX IF NOT EXISTS entries_open ON entries (accountId, bookedAt) WHERE balanceMinor IS NULL;
CREATE TABLE IF NOT EXISTS consents (
  id TEXT PRIMARY KEY, bank TEXT NOT NULL, clientId TEXT NOT NULL, family TEXT NOT NULL, status TEXT NOT NULL,
  reason TEXT, createdAt INTEGER NOT NULL, statusAt INTEGER NOT NULL, authorisedAt INTEGER, expiresAt INTEGER,
  request TEXT NOT NULL, persona TEXT, accountIds TEXT NOT NULL, grantId TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS payments (
  id TEXT PRIMARY KEY, bank TEXT NOT NULL, clientId TEXT NOT NULL, consentId TEXT NOT NULL UNIQUE, accountId TEXT NOT NULL,
  amountMinor INTEGER NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, outcome TEXT NOT NULL,
  createdAt INTEGER NOT NULL, statusAt INTEGER NOT NULL, reads INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS payments_by_account ON payments (accountId);
CREATE TABLE IF NOT EXISTS idempotency (
  bank TEXT NOT NULL, clientId TEXT NOT NULL, route TEXT NOT NULL, key TEXT NOT NULL, bodyHash TEXT NOT NULL,
  resourceId TEXT NOT NULL, createdAt INTEGER NOT NULL, PRIMARY KEY (bank, clientId, route, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS oidc (
  bank TEXT NOT NULL, model TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL, expiresAt INTEGER,
  grantId TEXT, uid TEXT, PRIMARY KEY (bank, model, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS oidc_by_grant ON oidc (bank, grantId);
CREATE INDEX IF NOT EXISTS oidc_by_uid ON oidc (bank, uid);
CREATE TABLE IF NOT EXISTS berlin_consents (
  id TEXT PRIMARY KEY, bank TEXT NOT NULL, clientId TEXT NOT NULL, status TEXT NOT NULL, createdAt INTEGER NOT NULL,
  statusAt INTEGER NOT NULL, authorisedAt INTEGER, ask TEXT NOT NULL, psuId TEXT, persona TEXT, signers TEXT NOT NULL,
  accountIds TEXT NOT NULL, redirects TEXT NOT NULL, lastReadAt INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS berlin_authorisations (
  id TEXT PRIMARY KEY, bank TEXT NOT NULL, consentId TEXT NOT NULL, scaStatus TEXT NOT NULL, psuId TEXT, methodId TEXT,
  failures INTEGER NOT NULL, createdAt INTEGER NOT NULL, browser TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS berlin_authorisations_by_consent ON berlin_authorisations (consentId);
CREATE TABLE IF NOT EXISTS berlin_reads (
  consentId TEXT NOT NULL, endpoint TEXT NOT NULL, day TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (consentId, endpoint, day)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS visits (uid TEXT PRIMARY KEY, state TEXT NOT NULL, startedAt INTEGER NOT NULL) WITHOUT ROWID;
`;

/** The bank's one file. Statements are prepared once. */
export class Store {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** `file` is a path, or `:memory:`. */
  constructor(file: string) {
    if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#db = new DatabaseSync(file);
    this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000;');
    this.#db.exec(schema);
  }

  all<T extends Row>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#prepare(sql).all(...values) as T[];
  }

  get<T extends Row>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.#prepare(sql).get(...values) as T | undefined;
  }

  /** Answers how many rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  /** All of it or nothing. Inside another transaction it becomes a part of that one. */
  transaction<T>(work: () => T): T {
    if (this.#db.isTransaction) return work();
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  setting(key: string): string | undefined {
    return this.get<{ value: string }>('SELECT value FROM settings WHERE key = ?', key)?.value;
  }

  keep(key: string, value: string): void {
    this.run(
      'INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
      key,
      value,
    );
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
