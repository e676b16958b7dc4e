import { dayMs, isSummerTime } from '../clock.js';

const hourMs = 3_600_000;

/** The date on a calendar in Central Europe, `2026-11-21`, of an instant. */
export function dateOf(ms: number): string {
  return new Date(ms + (isSummerTime(ms) ? 2 : 1) * hourMs).toISOString().slice(0, 10);
}

/** The instant at which a date begins in Central Europe; undefined when the text is no date. */
export function startOf(date: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return undefined;
  const midnight = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return undefined;
  return midnight - (isSummerTime(midnight - hourMs) ? 2 : 1) * hourMs;
}

/** The date some days later. */
export function daysAfter(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}
