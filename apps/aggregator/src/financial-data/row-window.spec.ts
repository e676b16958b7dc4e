import { describe, expect, it } from 'vitest';
import { clipWindow, newestFirst, rowsOfPage } from './row-window.js';

const day = (n: number) => new Date(Date.UTC(2026, 0, n));
const dateOf = ({ date }: { date?: string }) => date;
const row = (id: string, date?: string) => ({ id, ...(date ? { date } : {}) });

describe('the window of a query', () => {
  it('is clipped to what the consent covers', () => {
    const consent = { transactionFrom: day(10), transactionTo: day(20) };
    expect(clipWindow({}, consent)).toEqual({ from: day(10), before: day(20) });
    expect(clipWindow({ from: day(12), before: day(25) }, consent)).toEqual({ from: day(12), before: day(20) });
    expect(clipWindow({ from: day(21) }, consent)).toBeUndefined();
    expect(clipWindow({ from: day(3) }, { transactionFrom: null, transactionTo: null })).toEqual({ from: day(3) });
  });

  it('includes both of its ends', () => {
    const rows = [
      row('a', '2026-01-01T00:00:00.000Z'),
      row('b', '2026-01-02T00:00:00.000Z'),
      row('c', '2026-01-03T00:00:00.000Z'),
    ];
    expect(newestFirst(rows, { from: day(2), before: day(3) }, dateOf).map(({ id }) => id)).toEqual(['c', 'b']);
    expect(newestFirst(rows, { from: day(1), before: day(1) }, dateOf).map(({ id }) => id)).toEqual(['a']);
  });

  it('orders newest first, keeps the order of equals, and puts undated rows in front', () => {
    const rows = [
      row('a', '2026-01-01T00:00:00Z'),
      row('b', '2026-01-02T00:00:00Z'),
      row('c', '2026-01-02T00:00:00Z'),
      row('d'),
    ];
    expect(newestFirst(rows, {}, dateOf).map(({ id }) => id)).toEqual(['d', 'b', 'c', 'a']);
  });
});

describe('the rows of a page', () => {
  it('follow the worked rules of the interface', () => {
    expect(rowsOfPage({ offset: 6000, limit: 1000, sort: '-date' }, 6500)).toEqual({ from: 6000, to: 6500 });
    expect(rowsOfPage({ offset: 450, limit: 50, sort: '-date' }, 467)).toEqual({ from: 450, to: 467 });
  });

  it('are counted from the oldest when sorted by date', () => {
    expect(rowsOfPage({ offset: 0, limit: 10, sort: 'date' }, 25)).toEqual({ from: 15, to: 25 });
    expect(rowsOfPage({ offset: 20, limit: 10, sort: 'date' }, 25)).toEqual({ from: 0, to: 5 });
  });

  it('are none beyond the end', () => {
    expect(rowsOfPage({ offset: 30, limit: 10, sort: '-date' }, 25)).toEqual({ from: 25, to: 25 });
    expect(rowsOfPage({ offset: 30, limit: 10, sort: 'date' }, 25)).toEqual({ from: 0, to: 0 });
  });
});
