import { describe, expect, it } from 'vitest';
import { faultOf, isLapsed, nextSync } from './sync-fault.js';

describe('faults of a synchronisation', () => {
  it('need the user only where the consent itself is refused', () => {
    expect(faultOf({ status: 403, timedOut: false })).toEqual({ problem: 'consent-refused', verdict: 'needs-user' });
    for (const passing of [
      { timedOut: true },
      { timedOut: false },
      { status: 401, timedOut: false },
      { status: 424, institutionStatus: 500, timedOut: false },
      { status: 424, institutionStatus: 429, timedOut: false },
      { status: 429, timedOut: false },
      { status: 500, timedOut: false },
      { status: 503, timedOut: false },
    ]) {
      expect(faultOf(passing).verdict).toBe('retry');
    }
  });

  it('only hint at it where the institution refused or the account is gone: the consent is asked', () => {
    expect(faultOf({ status: 424, institutionStatus: 403, timedOut: false }).verdict).toBe('check-consent');
    expect(faultOf({ status: 404, timedOut: false }).verdict).toBe('check-consent');
    expect(['AUTHORIZED', 'UNKNOWN', undefined].map(isLapsed)).toEqual([false, false, false]);
    expect(['REVOKED', 'EXPIRED'].map(isLapsed)).toEqual([true, true]);
  });

  it('survive a negative or absent time to wait', () => {
    expect(faultOf({ status: 429, timedOut: false, retryAfter: -5 })).toEqual({
      problem: 'not-due-yet',
      verdict: 'retry',
    });
    expect(faultOf({ status: 429, timedOut: false, retryAfter: 60 }).retryAfterSeconds).toBe(60);
  });

  it('are waited out ever longer, and at least as long as was asked', () => {
    const at = new Date('2026-01-01T00:00:00Z');
    const seconds = (failures: number, asked?: number): number =>
      (nextSync(at, failures, asked).getTime() - at.getTime()) / 1000;
    expect(seconds(0)).toBe(21_600);
    expect([1, 2, 3, 6, 50].map((failures) => seconds(failures))).toEqual([30, 120, 600, 21_600, 21_600]);
    expect(seconds(1, 3_000)).toBe(3_000);
    expect(seconds(1, 10_000_000)).toBe(86_400);
  });
});
