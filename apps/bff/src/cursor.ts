import { hash } from 'node:crypto';
import { problems } from '#libs/contract';

/** The place after a row of a list that is ordered by an instant and an id. */
export interface ListCursor {
  date: Date;
  id: string;
}

const listForm = /^t(\d{1,16})\.([0-9a-f-]{36}|[A-Z_]{1,60})(?:\.([0-9a-f]{8}))?$/;
const namedForm = /^n([0-9a-f]{8})\.(.{1,120})$/;
const feedForm = /^c(\d{1,18})$/;

/**
 * Opaque to callers; what it says is checked again when it comes back. `list` are the filters and the account of the list, to which
 * the cursor belongs: in another one it would skip rows unseen.
 */
export function writeListCursor({ date, id }: ListCursor, list?: readonly unknown[]): string {
  return Buffer.from(`t${date.getTime()}.${id}${list ? `.${markOf(list)}` : ''}`).toString('base64url');
}

/** Throws a 400 naming `cursor` for anything that `writeListCursor` has not written for this list. */
export function readListCursor(text: string, list?: readonly unknown[]): ListCursor {
  const [, ms, id, mark] = listForm.exec(decode(text)) ?? [];
  const date = new Date(Number(ms));
  if (id === undefined || Number.isNaN(date.getTime())) throw refusedCursor();
  if (mark !== (list && markOf(list))) throw refusedCursor();
  return { date, id };
}

/**
 * The page of a list of which one row more than `limit` was read, and what is said of the pages behind it. `placeOf` is the place
 * after a row.
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  { placeOf, list }: { placeOf: (row: Row) => ListCursor; list: readonly unknown[] },
): { page: Row[]; more: { hasMore: boolean; nextCursor?: string } } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  if (rows.length <= limit || last === undefined) return { page, more: { hasMore: false } };
  return { page, more: { hasMore: true, nextCursor: writeListCursor(placeOf(last), list) } };
}

/** The place after an entry of a list that is ordered otherwise, by the entry's id. Such a list is short enough to look it up. */
export function writeIdCursor(id: string, list: readonly unknown[]): string {
  return Buffer.from(`n${markOf(list)}.${id}`).toString('base64url');
}

/** Throws a 400 naming `cursor` for anything that `writeIdCursor` has not written for this list. */
export function readIdCursor(text: string, list: readonly unknown[]): string {
  const [, mark, id] = namedForm.exec(decode(text)) ?? [];
  if (id === undefined || mark !== markOf(list)) throw refusedCursor();
  return id;
}

function markOf(list: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(list.map((filter) => filter ?? null)), 'hex').slice(0, 8);
}

/** The place in a customer's change log up to which everything has been served. */
export function writeFeedCursor(sequence: bigint): string {
  return Buffer.from(`c${sequence}`).toString('base64url');
}

export function readFeedCursor(text: string): bigint {
  const [, sequence] = feedForm.exec(decode(text)) ?? [];
  if (sequence === undefined) throw refusedCursor();
  return BigInt(sequence);
}

function decode(text: string): string {
  return Buffer.from(text, 'base64url').toString('utf8');
}

/** For a cursor that this list has not given, or whose entry is gone. */
export function refusedCursor(): Error {
  return problems.unexpectedValue({ parameter: 'cursor', message: 'cursor must be a value that this list has given' });
}
