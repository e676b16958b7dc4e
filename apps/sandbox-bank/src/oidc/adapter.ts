import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { BankClock } from '../clock.js';
import type { Store } from '../store.js';

type Stored = { payload: string; expiresAt: number | null };

/**
 * Storage of oidc-provider's models in the bank's file. Lifetimes are counted on the bank's clock here, so moving it past the
 * life of a token ends the token, while `iat` and `exp` inside signed answers stay on the machine's time, as a TPP checks them.
 */
export class OidcAdapter implements Adapter {
  constructor(
    private readonly on: {
      store: Store;
      clock: BankClock;
      bank: string;
      model: string;
      client: (id: string) => AdapterPayload | undefined;
    },
  ) {}

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const { store, clock, bank, model } = this.on;
    const expiresAt = expiresIn === undefined ? null : clock.now() + expiresIn * 1000;
    store.run(
      `INSERT INTO oidc (bank, model, id, payload, expiresAt, grantId, uid) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (bank, model, id) DO UPDATE SET payload = excluded.payload, expiresAt = excluded.expiresAt, grantId = excluded.grantId, uid = excluded.uid`,
      bank,
      model,
      id,
      JSON.stringify(payload),
      expiresAt,
      payload.grantId ?? null,
      payload.uid ?? null,
    );
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const { store, bank, model } = this.on;
    if (model === 'Client') return this.on.client(id);
    return this.#alive(
      store.get<Stored>('SELECT payload, expiresAt FROM oidc WHERE bank = ? AND model = ? AND id = ?', bank, model, id),
    );
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const { store, bank, model } = this.on;
    return this.#alive(
      store.get<Stored>(
        'SELECT payload, expiresAt FROM oidc WHERE bank = ? AND uid = ? AND model = ?',
        bank,
        uid,
        model,
      ),
    );
  }

  /** The device flow is not offered. */
  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async consume(id: string): Promise<void> {
    const { store, clock, bank, model } = this.on;
    const consumed = Math.floor(clock.now() / 1000);
    store.run(
      "UPDATE oidc SET payload = json_set(payload, '$.consumed', ?) WHERE bank = ? AND model = ? AND id = ?",
      consumed,
      bank,
      model,
      id,
    );
  }

  async destroy(id: string): Promise<void> {
    const { store, bank, model } = this.on;
    store.run('DELETE FROM oidc WHERE bank = ? AND model = ? AND id = ?', bank, model, id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const { store, bank } = this.on;
    store.run('DELETE FROM oidc WHERE bank = ? AND grantId = ?', bank, grantId);
  }

  #alive(row: Stored | undefined): AdapterPayload | undefined {
    if (!row || (row.expiresAt !== null && row.expiresAt <= this.on.clock.now())) return undefined;
    return JSON.parse(row.payload) as AdapterPayload;
  }
}

/** Ends a grant: the tokens that came from it, and the grant itself. */
export function endGrant(store: Store, bank: string, grantId: string): void {
  store.run('DELETE FROM oidc WHERE bank = ? AND grantId = ?', bank, grantId);
  store.run("DELETE FROM oidc WHERE bank = ? AND model = 'Grant' AND id = ?", bank, grantId);
}

/** Forgets what has run out. Called at start, so that the file does not grow for ever. */
export function sweep(store: Store, now: number): void {
  store.run('DELETE FROM oidc WHERE expiresAt IS NOT NULL AND expiresAt <= ?', now);
  store.run('DELETE FROM visits WHERE startedAt <= ?', now - 3_600_000);
}
