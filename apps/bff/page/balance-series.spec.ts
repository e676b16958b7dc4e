import { describe, expect, it } from 'vitest';
import { balanceSeries } from './balance-series.js';

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
