import { hasRow, type Change, type ChangeKind, type Flag } from './change.js';
import { rowOfServed, servedText } from './served-text.js';
import type { Comparable, TransactionRow } from './transaction-row.js';

/** One entry of a customer's log, as it is stored. */
export interface LogEntry {
  sequence: bigint;
  recordedAt: Date;
  kind: ChangeKind;
  accountId: string;
  transactionId: string;
  /** What `payloadOf` made. */
  payload: string;
  /** What merchants are served after the change, if it changed what the transaction says. */
  wire: string | null;
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
  joinedInto: string | null;
  apartFrom: string[];
  dismissed: Flag['reason'] | null;
}

/** A log that cannot have been written by us: numbers are missing, or a change speaks of a transaction that is not there. */
export class BrokenLog extends Error {
  override readonly name = 'BrokenLog';
}

/** What the log keeps of a change besides its kind, id and text. */
export function payloadOf<R extends Comparable>(change: Change<R>): string {
  const { kind: _kind, id: _id, ...rest } = hasRow(change) ? { ...change, row: undefined } : change;
  return JSON.stringify(rest);
}

/** The entry of a change, without its place in the log. */
export function entryOf(change: Change<TransactionRow>, accountId: string): Omit<LogEntry, 'sequence' | 'recordedAt'> {
  const { kind, id } = change;
  const wire = hasRow(change) ? servedText(change.row, { id, accountId }) : null;
  return { kind, accountId, transactionId: id, payload: payloadOf(change), wire };
}

/** The change that an entry records. */
export function changeOf({
  kind,
  transactionId,
  payload,
  wire,
}: Pick<LogEntry, 'kind' | 'transactionId' | 'payload' | 'wire'>): Change<TransactionRow> {
  const row = wire === null ? {} : { row: rowOfServed(wire) };
  return { kind, id: transactionId, ...JSON.parse(payload), ...row } as Change<TransactionRow>;
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
  change: Change<TransactionRow>,
): void {
  const { id } = change;
  const before = table.get(id);
  if (change.kind === 'added' && before) throw new BrokenLog(`entry ${sequence} adds ${id} again`);
  if (!before && !isBeginning(change)) throw new BrokenLog(`entry ${sequence} changes ${id}, which is not there`);
  if (before?.removedAt && before.joinedInto === null && !mayFollowRemoval(change))
    throw new BrokenLog(`entry ${sequence} changes ${id}, which is removed`);
  const line = before ?? { ...blank, id, accountId, firstSeenAt: recordedAt };
  table.set(id, { ...line, accountId, sequence, ...effectOf(change, line, recordedAt) } as LoggedTransaction);
}

/** Whether a transaction may begin with this change. */
function isBeginning({ kind }: Change<TransactionRow>): boolean {
  return kind === 'added' || kind === 'joined' || kind === 'split';
}

/** Whether a removed transaction may be spoken of so: it is known after all as another's, or its account goes by another id. */
function mayFollowRemoval({ kind }: Change<TransactionRow>): boolean {
  return kind === 'joined' || kind === 'moved';
}

const blank = { flag: null, removedAt: null, joinedInto: null, apartFrom: [] as string[], dismissed: null };

function effectOf(
  change: Change<TransactionRow>,
  { removedAt, apartFrom }: Pick<LoggedTransaction, 'removedAt' | 'apartFrom'>,
  recordedAt: Date,
): Partial<LoggedTransaction> {
  switch (change.kind) {
    case 'added':
      return { row: change.row, flag: change.flag ?? null };
    case 'modified':
    case 'linked':
      return { row: change.row, flag: null, dismissed: null };
    case 'joined':
      return { row: change.row, flag: null, joinedInto: change.into, removedAt: removedAt ?? recordedAt };
    case 'split':
      return { row: change.row, flag: null, joinedInto: null, removedAt: null, apartFrom: [...apartFrom, change.from] };
    case 'removed':
      return { flag: null, joinedInto: null, removedAt: removedAt ?? recordedAt };
    case 'flagged':
      return { flag: change.flag };
    case 'moved':
      return {};
    default:
      return { flag: null, ...(change.dismissed ? { dismissed: change.dismissed } : {}) };
  }
}
