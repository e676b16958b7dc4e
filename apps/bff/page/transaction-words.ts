import { nowMs } from './clock.js';
import { day } from './format.js';
import type { Transaction, TransactionFlag } from './views.js';

/** What a person calls a transaction. */
export function titleOf({ description, merchant, reference }: Transaction): string {
  return merchant?.merchantName ?? description ?? reference ?? 'Without a text';
}

/**
 * When a transaction was. What is pending is not booked yet: a booking date that a bank gives it is the expected one (UK Open
 * Banking), and the value date, where it has passed, tells when it was made.
 */
export function datesOf({ status, date, bookingDateTime, valueDateTime }: Transaction): string {
  if (status !== 'PENDING') return day(bookingDateTime ?? date);
  const isAhead = (instant: string) => Date.parse(instant) > nowMs();
  const made = [valueDateTime, date, bookingDateTime].find((each) => each !== undefined && !isAhead(each));
  const expected = [bookingDateTime, date].find((each) => each !== undefined && isAhead(each));
  const told = [made && `made ${day(made)}`, expected && `expected ${day(expected)}`].filter(Boolean);
  return told.length === 0 ? 'without a date' : told.join(', ');
}

/** Why a transaction is in doubt, and what a person may say to it. */
export function doubtOf({ reason, candidates }: TransactionFlag): string {
  if (reason === 'booked-vanished')
    return 'The bank no longer shows this booking, although its answer covers the time. It is kept until somebody knows better.';
  const them = candidates.length === 1 ? 'the pending one below' : 'one of those below';
  return `This may be what became of ${them}. Nothing was guessed: are they one purchase or two?`;
}
