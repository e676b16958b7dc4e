import type { Account, Entry } from './account.js';
import { Random } from './random.js';
import type { Store } from './store.js';

/** What a bank may do wrong with one row: its balance stays right. */
export type SlipKind = 'lose' | 'double';

export function isSlipKind(value: unknown): value is SlipKind {
  return value === 'lose' || value === 'double';
}

interface Slip {
  kind: SlipKind;
  /** Only a row that was booked at this instant or later. */
  since: number;
  /** Only one that had been made by then: where that is before `since`, it stood there as pending. */
  madeBy: number;
}

/** The newest booked row is gone, or there once more under another id, from now on. Answers the row; undefined without one. */
export function slip(store: Store, account: Account, { kind, since, madeBy }: Slip): Entry | undefined {
  return store.transaction(() => {
    const entry = store.get<Entry>(
      `SELECT * FROM entries WHERE accountId = ? AND balanceMinor IS NOT NULL AND bookedAt >= ?
       AND madeAt <= ? ORDER BY bookedAt DESC, seq DESC LIMIT 1`,
      account.id,
      since,
      madeBy,
    );
    if (!entry) return undefined;
    if (kind === 'lose') store.run('DELETE FROM entries WHERE accountId = ? AND seq = ?', entry.accountId, entry.seq);
    else {
      store.run(
        `INSERT INTO entries SELECT accountId, ?, ?, madeAt, bookedAt, amountMinor, balanceMinor, detail
         FROM entries WHERE accountId = ? AND seq = ?`,
        account.nextSeq,
        new Random(`copy|${entry.id}|${account.nextSeq}`).hex(20),
        entry.accountId,
        entry.seq,
      );
      store.run('UPDATE accounts SET nextSeq = nextSeq + 1 WHERE id = ?', account.id);
    }
    return entry;
  });
}
