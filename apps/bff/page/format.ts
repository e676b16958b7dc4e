/** An amount as people read it, such as `£12.50`; a dash where there is none, never a zero. */
export function money(amount: number | undefined, currency: string | undefined): string {
  if (amount === undefined) return '–';
  if (currency === undefined) return amount.toFixed(2);
  return new Intl.NumberFormat('en-GB', { style: 'currency', currency }).format(amount);
}

const dayForm = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const timeForm = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const clockForm = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** `21 Nov 2026`; a dash where there is no date. */
export function day(instant: string | undefined): string {
  return instant === undefined ? '–' : dayForm.format(new Date(instant));
}

/** `21 Nov 2026, 10:15:00`; a dash where there is no date. */
export function moment(instant: string | undefined): string {
  return instant === undefined ? '–' : timeForm.format(new Date(instant));
}

/** `10:15:00`. */
export function timeOfDay(instant: string): string {
  return clockForm.format(new Date(instant));
}

const countForm = new Intl.NumberFormat('en-GB');

/** `3,324`. */
export function count(number: number): string {
  return countForm.format(number);
}
