import { describe, expect, it } from 'vitest';
import { depths, fromOf, overlapFor, planReading, wholeDays } from './reading-window.js';

const at = new Date('2026-03-01T00:00:00Z');
const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
const ago = (ms: number): Date => new Date(at.getTime() - ms);
const standing = {
  authorisedAt: ago(10 * dayMs),
  readAt: ago(dayMs),
  auditedAt: ago(dayMs),
  overlapDays: null,
  attended: false,
};

describe('what is read of an account', () => {
  it('is everything the first time, and everything again after a new authentication', () => {
    const first = { ...standing, authorisedAt: ago(minuteMs), readAt: null, auditedAt: null };
    expect(planReading(first, at)).toEqual({ kind: 'whole', stage: 'fresh' });
    expect(planReading({ ...first, authorisedAt: ago(6 * minuteMs) }, at)).toEqual({ kind: 'whole', stage: 'later' });
    expect(planReading({ ...standing, authorisedAt: ago(minuteMs) }, at)).toEqual({ kind: 'whole', stage: 'fresh' });
    const afterwards = { ...standing, authorisedAt: ago(2 * minuteMs), auditedAt: ago(minuteMs) };
    expect(planReading(afterwards, at).kind).toBe('recent');
  });

  it('is the whole gap since the last success, with the overlap that the institution needs', () => {
    expect(planReading(standing, at)).toEqual({ kind: 'recent', from: ago(15 * dayMs) });
    expect(planReading({ ...standing, readAt: ago(6 * dayMs), overlapDays: 20 }, at)).toEqual({
      kind: 'recent',
      from: ago(26 * dayMs),
    });
    expect([0, 5, 11, 12, 30.2].map(overlapFor)).toEqual([14, 14, 14, 15, 34]);
  });

  it('is everything once a week, but not while the customer waits', () => {
    const late = { ...standing, auditedAt: ago(7 * dayMs) };
    expect(planReading(late, at)).toEqual({ kind: 'whole', stage: 'later' });
    expect(planReading({ ...late, attended: true }, at).kind).toBe('recent');
  });

  it('is less where more was refused, in no more tries than a day has calls', () => {
    expect(depths({ days: null, refusedDays: null })).toEqual([null, 365, 90, 30]);
    expect(depths({ days: null, refusedDays: wholeDays })).toEqual([365, 90, 30]);
    expect(depths({ days: 90, refusedDays: 365 })).toEqual([90, 30]);
    expect(depths({ days: 90, refusedDays: 30 })).toEqual([7]);
    // What an audit was content with says nothing of what lies between that and the whole.
    expect(depths({ days: 14, refusedDays: wholeDays })).toEqual([365, 90, 30, 14]);
    expect(depths({ days: null, refusedDays: 1 })).toEqual([1]);
    expect(fromOf(null, at)).toBeNull();
    expect(fromOf(90, at)).toEqual(ago(90 * dayMs));
  });
});
