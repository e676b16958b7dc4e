const form = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})$/i;

/**
 * The instant an ISO 8601 date-time names, or undefined when the text is not one.
 *
 * The interface writes `yyyy-MM-dd'T'HH:mm:ss.SSSZ`, where the zone may be `Z`, `+0100` or `+01:00`. Seconds and fraction
 * may be missing. A text without a zone names no instant and is refused; digits beyond the millisecond are cut off.
 */
export function parseDateTime(text: string): Date | undefined {
  const parts = form.exec(text);
  if (!parts) return undefined;
  const part = (index: number): number => Number(parts[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offset = offsetMinutes(parts[8] ?? 'Z');
  if (offset === undefined) return undefined;
  const ms = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute - offset, second, ms);
  // Outside these years the wire form has another shape, which databases do not read.
  return at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999 ? at : undefined;
}

/** Whether a value is text that `parseDateTime` reads. */
export function isDateTime(value: unknown): value is string {
  return typeof value === 'string' && parseDateTime(value) !== undefined;
}

/** The wire form of an instant: UTC, milliseconds, `Z`. */
export function formatDateTime(at: Date): string {
  return at.toISOString();
}

/** An ISO 8601 duration in the form the interface shows for `timeToExpire`: `P89DT12H6M39.998S`; negative becomes `PT0S`. */
export function formatDuration(ms: number): string {
  const left = Math.max(0, Math.trunc(ms));
  const days = Math.floor(left / 86_400_000);
  const hours = Math.floor(left / 3_600_000) % 24;
  const minutes = Math.floor(left / 60_000) % 60;
  const millis = left % 60_000;
  const seconds =
    millis % 1000 === 0 ? String(millis / 1000) : `${Math.floor(millis / 1000)}.${fraction(millis % 1000)}`;
  const time = `${hours ? `${hours}H` : ''}${minutes ? `${minutes}M` : ''}${millis ? `${seconds}S` : ''}`;
  if (!days && !time) return 'PT0S';
  return `P${days ? `${days}D` : ''}${time ? `T${time}` : ''}`;
}

function fraction(millis: number): string {
  return String(millis).padStart(3, '0').replace(/0+$/, '');
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function offsetMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 18 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
