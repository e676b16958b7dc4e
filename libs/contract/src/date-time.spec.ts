import * as fc from 'fast-check';
import { formatDateTime, formatDuration, isDateTime, parseDateTime } from './date-time.js';

it('reads back every instant it writes', () => {
  const instants = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(instants, (at) => {
      expect(parseDateTime(formatDateTime(at))).toEqual(at);
    }),
  );
});

it.each([
  '2021-06-08',
  '2021-06-08T10:59:35',
  '2021-02-29T00:00:00Z',
  '2021-04-31T00:00:00Z',
  '2021-00-10T00:00:00Z',
  '2021-06-08T24:00:00Z',
  '2021-06-08T10:60:00Z',
  '2021-06-08T10:59:60Z',
  '2021-06-08T10:59:35+1',
  '2021-06-08T10:59:35+99:00',
  '2021-06-08 10:59:35Z',
  '1623149975',
  '0000-06-08T10:59:35Z',
  '0001-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59-01:00',
  '',
])('refuses %j', (text) => {
  expect(isDateTime(text)).toBe(false);
});

it('knows leap days, short years and offsets', () => {
  expect(parseDateTime('2024-02-29T00:00:00Z')?.toISOString()).toBe('2024-02-29T00:00:00.000Z');
  expect(parseDateTime('0099-01-01T00:00:00Z')?.toISOString()).toBe('0099-01-01T00:00:00.000Z');
  expect(parseDateTime('2024-01-01T00:30+0100')?.toISOString()).toBe('2023-12-31T23:30:00.000Z');
  expect(parseDateTime('2024-01-01T00:00:00.123456789Z')?.toISOString()).toBe('2024-01-01T00:00:00.123Z');
});

it.each([
  [89 * 86_400_000 + 12 * 3_600_000 + 6 * 60_000 + 39_998, 'P89DT12H6M39.998S'],
  [86_400_000, 'P1D'],
  [86_400_000 + 60_050, 'P1DT1M0.05S'],
  [1500, 'PT1.5S'],
  [0, 'PT0S'],
  [-5, 'PT0S'],
])('writes %d ms as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
