import { nowMs } from './clock.js';

/** An amount as people read it, such as `£12.50`; a dash where there is none, never a zero. */
export function money(amount: number | undefined, currency: string | undefined): string {
  if (amount === undefined) return '–';
  if (currency === undefined) return amount.toFixed(2);
  return new Intl.NumberFormat('en-GB', { style: 'currency', currency }).format(amount).replace('-', '−');
}

/** The same for the axis of a chart: `£12.5K`. */
export function shortMoney(amount: number, currency: string | undefined): string {
  const style = currency === undefined ? {} : { style: 'currency' as const, currency };
  const form = new Intl.NumberFormat('en-GB', { ...style, notation: 'compact', maximumFractionDigits: 1 });
  return form.format(amount).replace('-', '−');
}

const dayForm = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const shortDayForm = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const monthForm = new Intl.DateTimeFormat('en-GB', { month: 'short', timeZone: 'UTC' });
const timeForm = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** `21 Nov 2026`; a dash where there is no date. */
export function day(instant: string | undefined): string {
  return instant === undefined ? '–' : dayForm.format(new Date(instant));
}

/** `Nov`. */
export function month(instant: string): string {
  return monthForm.format(new Date(instant));
}

/** `10:15` today, else `20 Nov, 10:15`, with the year when it is another one; a dash where there is no date. */
export function moment(instant: string | undefined): string {
  if (instant === undefined) return '–';
  const [at, today] = [new Date(instant), new Date(nowMs())];
  const time = timeForm.format(at);
  if (dayForm.format(at) === dayForm.format(today)) return time;
  return `${at.getFullYear() === today.getFullYear() ? shortDayForm.format(at) : dayForm.format(at)}, ${time}`;
}

const countForm = new Intl.NumberFormat('en-GB');

/** `3,324`. */
export function count(number: number): string {
  return countForm.format(number);
}

/** `1 day`, `3 days`. */
export function plural(number: number, one: string): string {
  return `${count(number)} ${one}${number === 1 ? '' : 's'}`;
}

/** Text with a capital letter in front. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
