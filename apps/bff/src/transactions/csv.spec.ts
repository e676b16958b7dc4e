import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvHeader, csvLine, type ExportRow } from './csv.js';

const row: ExportRow = {
  id: 'i',
  account_id: 'a',
  date: new Date('2026-03-01T00:00:00Z'),
  booked_at: null,
  value_at: null,
  status: 'BOOKED',
  amount: '-3.2',
  currency: 'GBP',
  description: 'Coffee',
  bank_id: null,
};

/** Reads lines as RFC 4180 writes them. */
function cellsOf(line: string): string[] {
  const cells = line.slice(0, -2).match(/(?:^|,)(?:"(?:[^"]|"")*"|[^",]*)/g) ?? [];
  return cells.map((cell, index) => {
    const bare = index === 0 ? cell : cell.slice(1);
    return bare.startsWith('"') ? bare.slice(1, -1).replaceAll('""', '"') : bare;
  });
}

describe('a line of CSV', () => {
  it('has a cell for each name and ends as the RFC says', () => {
    expect(csvLine(row)).toBe('i,a,2026-03-01T00:00:00.000Z,,,BOOKED,-3.2,GBP,Coffee,\r\n');
    expect(cellsOf(csvHeader)).toHaveLength(cellsOf(csvLine(row)).length);
  });

  it('gives back any text, with an apostrophe before what a spreadsheet would run', () => {
    assert(
      property(string({ unit: 'binary' }), (description) => {
        const cell = cellsOf(csvLine({ ...row, description }))[8] ?? '';
        expect(cell.replace(/^'(?=[=+\-@\t\r\n])/, '')).toBe(description);
        expect(cell).not.toMatch(/^[=+\-@\t\r\n]/);
      }),
    );
    for (const formula of ['=1+1', '+1', '-1+2', '@SUM(A1)', '\t=1', '\r=1', '\n=1']) {
      expect(cellsOf(csvLine({ ...row, description: formula }))[8]).toBe(`'${formula}`);
    }
  });
});
