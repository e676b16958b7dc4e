import { dayMs } from './clock.js';

/** 0 is Sunday; days are counted since 1970, UTC. */
export const weekday = (day: number): number => (day + 4) % 7;
export const isWeekend = (day: number): boolean => weekday(day) === 0 || weekday(day) === 6;
export const dayOfMonth = (day: number): number => new Date(day * dayMs).getUTCDate();
export const at = (day: number, minute: number): number => day * dayMs + minute * 60_000;

export function workdayFrom(day: number): number {
  let candidate = day;
  while (isWeekend(candidate)) candidate += 1;
  return candidate;
}

/** True on the day of the month asked for, or on the working day after it when that is a weekend. */
export function fallsOn(day: number, wanted: number): boolean {
  if (isWeekend(day)) return false;
  for (let back = 0; back <= 2; back += 1) {
    if (back > 0 && !isWeekend(day - back)) return false;
    if (dayOfMonth(day - back) === wanted) return true;
  }
  return false;
}

export function isLastWorkday(day: number): boolean {
  const next = workdayFrom(day + 1);
  return !isWeekend(day) && dayOfMonth(next) <= dayOfMonth(day);
}

/** The 28th of January, April, July and October, or the working day after it. */
export function quarterlyDay(day: number): boolean {
  return fallsOn(day, 28) && new Date((day - 2) * dayMs).getUTCMonth() % 3 === 0;
}
