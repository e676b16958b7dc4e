import { dateOf, daysAfter, startOf } from './bank-day.js';

it.each([
  ['2026-01-15', '2026-01-14T23:00:00.000Z'],
  ['2026-07-15', '2026-07-14T22:00:00.000Z'],
  ['2026-03-29', '2026-03-28T23:00:00.000Z'],
  ['2026-03-30', '2026-03-29T22:00:00.000Z'],
  ['2026-10-25', '2026-10-24T22:00:00.000Z'],
  ['2026-10-26', '2026-10-25T23:00:00.000Z'],
])('%s begins at %s, and a moment before it is the day before', (date, instant) => {
  const start = startOf(date)!;
  expect(new Date(start).toISOString()).toBe(instant);
  expect(dateOf(start)).toBe(date);
  expect(dateOf(start - 1)).toBe(daysAfter(date, -1));
});

it.each(['2026-02-30', '2026-1-1', '', '2026-01-01T00:00:00', 'today'])('%j is no date', (text) => {
  expect(startOf(text)).toBeUndefined();
});
