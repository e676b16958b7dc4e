import { problems } from '#libs/contract';

/** The place after a row of a list, newest first. */
export interface ListCursor {
  date: Date;
  id: string;
}

const listForm = /^t(\d{1,16})\.([0-9a-f-]{36})$/;
const feedForm = /^c(\d{1,18})$/;

/** Opaque to callers; what it says is checked again when it comes back. */
export function writeListCursor({ date, id }: ListCursor): string {
  return Buffer.from(`t${date.getTime()}.${id}`).toString('base64url');
}

/** Throws a 400 naming `cursor` for anything that `writeListCursor` has not written. */
export function readListCursor(text: string): ListCursor {
  const [, ms, id] = listForm.exec(decode(text)) ?? [];
  const date = new Date(Number(ms));
  if (id === undefined || Number.isNaN(date.getTime())) throw refused();
  return { date, id };
}

/** The place in a customer's change log up to which everything has been served. */
export function writeFeedCursor(sequence: bigint): string {
  return Buffer.from(`c${sequence}`).toString('base64url');
}

export function readFeedCursor(text: string): bigint {
  const [, sequence] = feedForm.exec(decode(text)) ?? [];
  if (sequence === undefined) throw refused();
  return BigInt(sequence);
}

function decode(text: string): string {
  return Buffer.from(text, 'base64url').toString('utf8');
}

function refused(): Error {
  return problems.unexpectedValue({ parameter: 'cursor', message: 'cursor must be a value that this list has given' });
}
