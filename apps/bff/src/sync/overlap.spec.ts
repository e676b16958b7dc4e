import { describe, expect, it } from 'vitest';
import { isSameHistory, type Overlap } from './overlap.js';

const same: Overlap = { shown: 20, known: 20, both: 20, amounts: 12 };

describe('two histories', () => {
  it.each<[string, Partial<Overlap>]>([
    ['every booking of these days is in both', {}],
    ['one of twenty was booked late', { shown: 21 }],
    ['as few as five bookings are in both, each of another amount', { shown: 5, known: 5, both: 5, amounts: 5 }],
  ])('are one where %s', (_what, but) => {
    expect(isSameHistory({ ...same, ...but })).toBe(true);
  });

  it.each<[string, Partial<Overlap>]>([
    ['nothing overlaps', { shown: 0, known: 0, both: 0, amounts: 0 }],
    ['there are fewer than five amounts, as of standing orders', { amounts: 4 }],
    ['the one shows more than the other', { shown: 22 }],
    ['the other has more than the one', { known: 40 }],
  ])('are not proven to be one where %s', (_what, but) => {
    expect(isSameHistory({ ...same, ...but })).toBe(false);
  });
});
