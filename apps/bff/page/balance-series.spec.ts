import { describe, expect, it } from 'vitest';
import { axisValues, balanceOn, balanceSeries, dayAfter, daysBetween, monthStarts } from './balance-series.js';

describe('a series of balances', () => {
  it('ends with the balance of now', () => {
    expect(balanceSeries(10.5, '2026-11-21', [])).toEqual([{ day: '2026-11-21', balance: 10.5 }]);
  });

  it('goes back booking by booking, one point a day', () => {
    const bookings = [
      { bookedAt: '2026-11-19T08:00:00.000Z', amount: 100 },
      { bookedAt: '2026-11-20T09:00:00.000Z', amount: -0.1 },
      { bookedAt: '2026-11-20T10:00:00.000Z', amount: -0.2 },
    ];
    expect(balanceSeries(99.7, '2026-11-21', bookings)).toEqual([
      { day: '2026-11-19', balance: 100 },
      { day: '2026-11-20', balance: 99.7 },
      { day: '2026-11-21', balance: 99.7 },
    ]);
  });

  it('counts today’s bookings once', () => {
    const bookings = [{ bookedAt: '2026-11-21T01:00:00.000Z', amount: 5 }];
    expect(balanceSeries(5, '2026-11-21', bookings)).toEqual([{ day: '2026-11-21', balance: 5 }]);
  });

  it('leaves out what the bank has dated into the future', () => {
    const bookings = [{ bookedAt: '2026-12-01T00:00:00.000Z', amount: -50 }];
    expect(balanceSeries(20, '2026-11-21', bookings)).toEqual([{ day: '2026-11-21', balance: 20 }]);
  });
});

describe('a day of the series', () => {
  const points = [
    { day: '2026-01-30', balance: 5 },
    { day: '2026-02-02', balance: 7 },
  ];

  it('has the balance of the last booking before it', () => {
    expect(
      ['2026-01-29', '2026-01-30', '2026-02-01', '2026-02-02', '2026-02-09'].map((day) => balanceOn(points, day)),
    ).toEqual([undefined, 5, 5, 7, 7]);
  });

  it('is counted over the end of a month and of summer time', () => {
    expect(daysBetween('2026-01-30', '2026-02-02')).toBe(3);
    expect(daysBetween('2026-10-24', '2026-10-27')).toBe(3);
    expect(dayAfter('2026-12-31', 1)).toBe('2027-01-01');
  });

  it('may begin a month', () => {
    expect(monthStarts('2026-11-02', '2027-01-15')).toEqual(['2026-12-01', '2027-01-01']);
    expect(monthStarts('2026-11-02', '2026-11-30')).toEqual([]);
  });
});

describe('the values of an axis', () => {
  it('are round, hold all that is drawn, and are few', () => {
    for (const [low, high] of [
      [0, 9_951.21],
      [-758.04, 12.3],
      [0, 0],
      [-0.5, 0],
      [0, 1_000_000],
      [-333, 777],
    ] as const) {
      const values = axisValues(low, high);
      expect(values.length).toBeGreaterThanOrEqual(2);
      expect(values.length).toBeLessThanOrEqual(5);
      expect(values[0]).toBeLessThanOrEqual(low);
      expect(values.at(-1)).toBeGreaterThanOrEqual(high);
    }
    expect(axisValues(0, 9_951.21)).toEqual([0, 5_000, 10_000]);
  });
});
