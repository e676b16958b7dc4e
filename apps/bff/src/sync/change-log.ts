import type { Transaction } from '#libs/contract';
import type { Change, Flag } from './change.js';
import { rowOf, type TransactionRow } from './transaction-row.js';

/** One entry of a customer's log, as it is stored. */
export interface LogEntry {
  sequence: bigint;
  recordedAt: Date;
  kind: Change['kind'];
  accountId: string;
  transactionId: string;
  /** What `payloadOf` made. */
  payload: string;
}

/** One line of the table that the log projects to. */
export interface LoggedTransaction {
  id: string;
  accountId: string;
  row: TransactionRow;
  flag: Flag | null;
  /** Of the last change. */
  sequence: bigint;
  firstSeenAt: Date;
  removedAt: Date | null;
}

/** A log that cannot have been written by us: numbers are missing, or a change speaks of a transaction that is not there. */
export class BrokenLog extends Error {
  override readonly name = 'BrokenLog';
}

/** What the log keeps of a change besides its kind and id: of a row the bank's JSON alone, from which every column follows. */
export function payloadOf({ kind: _kind, id: _id, ...rest }: Change): string {
  return JSON.stringify('row' in rest ? { ...rest, row: { wire: rest.row.wire } } : rest);
}

/** The change that an entry records. */
export function changeOf({
  kind,
  transactionId,
  payload,
}: Pick<LogEntry, 'kind' | 'transactionId' | 'payload'>): Change {
  const kept = JSON.parse(payload) as { row?: { wire: string } };
  const row = kept.row && rowOf(JSON.parse(kept.row.wire) as Transaction);
  return { kind, id: transactionId, ...kept, ...(row ? { row } : {}) } as Change;
}

/**
 * The table as the log from its first entry says it is. The log is gapless: throws BrokenLog where a number is missing or
 * comes twice.
 */
export function replay(entries: Iterable<LogEntry>): Map<string, LoggedTransaction> {
  const table = new Map<string, LoggedTransaction>();
  let last = 0n;
  for (const entry of entries) {
    if (entry.sequence !== last + 1n) throw new BrokenLog(`entry ${entry.sequence} follows entry ${last}`);
    last = entry.sequence;
    apply(table, entry, changeOf(entry));
  }
  return table;
}

/** Brings one change into the table. */
export function apply(
  table: Map<string, LoggedTransaction>,
  { accountId, sequence, recordedAt }: Pick<LogEntry, 'accountId' | 'sequence' | 'recordedAt'>,
  change: Change,
): void {
  const { id } = change;
  const before = table.get(id);
  if (change.kind === 'added') {
    if (before) throw new BrokenLog(`entry ${sequence} adds ${id} again`);
    const { row, flag = null } = change;
    table.set(id, { id, accountId, row, flag, sequence, firstSeenAt: recordedAt, removedAt: null });
    return;
  }
  if (!before || before.removedAt) throw new BrokenLog(`entry ${sequence} changes ${id}, which is not there`);
  table.set(id, { ...before, sequence, ...effectOf(change, recordedAt) });
}

function effectOf(change: Exclude<Change, { kind: 'added' }>, recordedAt: Date): Partial<LoggedTransaction> {
  switch (change.kind) {
    case 'modified':
    case 'linked':
      return { row: change.row, flag: null };
    case 'removed':
      return { removedAt: recordedAt, flag: null };
    case 'flagged':
      return { flag: change.flag };
    default:
      return { flag: null };
  }
}
