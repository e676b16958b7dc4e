import { describe, expect, it } from 'vitest';
import { faultOf, isLapsed, mayBeTooLong, meaningOf, syncProblems } from './sync-fault.js';

describe('faults of a synchronisation', () => {
  it('need the user only where the consent itself is refused', () => {
    expect(faultOf({ status: 403, timedOut: false })).toMatchObject({
      problem: 'consent-refused',
      verdict: 'needs-user',
    });
    for (const passing of [
      { timedOut: true },
      { timedOut: false },
      { status: 401, timedOut: false },
      { status: 424, institutionStatus: 500, timedOut: false },
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
    expect(faultOf({ status: 429, timedOut: false, retryAfter: -5 }).retryAfterSeconds).toBeUndefined();
    expect(faultOf({ status: 429, timedOut: false, retryAfter: 60 }).retryAfterSeconds).toBe(60);
  });

  it('are none at all where a call is only too early, at the aggregator or at the institution', () => {
    expect(faultOf({ status: 429, timedOut: false }).verdict).toBe('not-due-yet');
    expect(faultOf({ status: 424, institutionStatus: 429, timedOut: false }).verdict).toBe('not-due-yet');
  });

  it('count as calls only where the institution may have been asked', () => {
    const counts = (status: number): boolean => faultOf({ status, timedOut: false }).isUncounted !== true;
    expect([424, 404].map(counts)).toEqual([true, true]);
    expect([401, 403, 429, 500, 503].map(counts)).toEqual([false, false, false, false, false]);
    expect(faultOf({ timedOut: true }).isUncounted).toBeUndefined();
  });

  it('may be about the length of the history where the institution refuses, or the aggregator the period', () => {
    const refused = (institutionStatus: number) => mayBeTooLong({ status: 424, institutionStatus, timedOut: false });
    expect([400, 403, 422].map(refused)).toEqual([true, true, true]);
    expect([401, 429, 500].map(refused)).toEqual([false, false, false]);
    expect(mayBeTooLong({ status: 400, timedOut: false, issues: [{ parameter: 'from' }] })).toBe(true);
    expect(mayBeTooLong({ status: 400, timedOut: false, issues: [{ parameter: 'psu-id' }] })).toBe(false);
  });

  it('each have an owner and a next step, and those that pass never ask the user', () => {
    for (const [problem, meaning] of Object.entries(syncProblems)) expect(meaningOf(problem)).toBe(meaning);
    const ofUser = Object.entries(syncProblems).filter(([, { owner }]) => owner === 'user');
    expect(ofUser.map(([problem]) => problem)).toEqual(['consent-refused', 'not-shared']);
    expect(meaningOf('toString')).toBeUndefined();
  });
});
