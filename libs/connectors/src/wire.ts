import { AmountError, parseDateTime, parseDecimal } from '#libs/contract';
import { InstitutionError } from './institution-error.js';

/** Reading what banks write: by string where that is exact and quick, refusing whatever cannot be read. */

const QUICK_AMOUNT = /^\d{1,10}(?:\.\d{1,5})?$/;

/** A bank's unsigned amount text as a JSON number, exactly; a sign it should not have is dropped (quirk Q17). */
export function toUnsigned(text: unknown, member: string): number {
  // Fifteen significant digits always survive as a double, so the common case needs no second look.
  if (typeof text === 'string' && QUICK_AMOUNT.test(text)) return Number(text);
  try {
    return Math.abs(parseDecimal(typeof text === 'number' ? String(text) : textOf(text, member)));
  } catch (fault) {
    if (fault instanceof AmountError) throw unreadable(member);
    throw fault;
  }
}

const QUICK_SIGNED = /^-?\d{1,10}(?:\.\d{1,5})?$/;

/** A bank's signed amount text as a JSON number, exactly. A number that is no text is refused: it may have been rounded. */
export function toSigned(text: unknown, member: string): number {
  // Adding zero makes a negative zero a plain one.
  if (typeof text === 'string' && QUICK_SIGNED.test(text)) return Number(text) + 0;
  try {
    return parseDecimal(textOf(text, member));
  } catch (fault) {
    if (fault instanceof AmountError) throw unreadable(member);
    throw fault;
  }
}

// Days after the 28th take the slow way, which knows the calendar.
const QUICK_INSTANT = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:Z|\+00:00)$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A bank's date-time as UTC text with milliseconds and `Z`. A date alone is midnight UTC: no time of day is invented. */
export function toInstant(text: string, member: string): string {
  if (QUICK_INSTANT.test(text)) return `${text.slice(0, 19)}.000Z`;
  const at = parseDateTime(DAY.test(text) ? `${text}T00:00:00Z` : text);
  if (!at) throw unreadable(member);
  return at.toISOString();
}

/** An optional member as a date-time: absent, empty and null all mean that the bank did not say. */
export function instantIfAny(text: string | null | undefined, member: string): string | undefined {
  return text ? toInstant(text, member) : undefined;
}

/** The JSON of an answer. Some banks put a byte order mark before it, which is no part of it (RFC 8259, section 8.1). */
export function readJson(body: Uint8Array): unknown {
  try {
    // Unlike `Buffer.toString`, a decoder leaves the mark out.
    return JSON.parse(utf8.decode(body));
  } catch {
    throw new InstitutionError('malformed', 'The institution answered something that is not JSON');
  }
}

const utf8 = new TextDecoder();

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A mandatory text. Throws malformed when it is missing or blank. */
export function textOf(value: unknown, member: string): string {
  if (typeof value !== 'string' || value.trim() === '') throw unreadable(member);
  return value;
}

/** All rows that can be read; the others are left out, for what they say is not known (quirk Q18). Throws when none can. */
export function readable<Row, Item>(rows: Row[], read: (row: Row) => Item): Item[] {
  const items: Item[] = [];
  let unread: InstitutionError | undefined;
  for (const row of rows) {
    try {
      items.push(read(row));
    } catch (fault) {
      if (!(fault instanceof InstitutionError)) throw fault;
      unread ??= fault;
    }
  }
  if (unread && items.length === 0) throw unread;
  return items;
}

/** A mandatory list. */
export function listOf<T>(value: T[] | undefined, member: string): T[] {
  if (!Array.isArray(value)) throw unreadable(member);
  return value;
}

/** The error for a member we could not read. It names the member, never its value. */
export function unreadable(member: string): InstitutionError {
  return new InstitutionError('malformed', `The institution sent no readable ${member}`);
}

const london = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/London',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** An instant on the clocks of UK banks, `2026-06-30T13:00:00`, as query dates of the standard must be. */
export function toLondonTime(at: Date): string {
  return london.format(at).replace(' ', 'T');
}
