import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AuthorisationStatus } from '#libs/contract';
import {
  awaitsCallback,
  isTerminal,
  mayMove,
  permits,
  showsToken,
  sourcesOf,
  statusAfter,
  statusAtBank,
  statusFailed,
  statusGranted,
  statusOfStep,
  unfinishedStatuses,
} from './consent-state.js';

const steps = ['redirect', 'choose-method', 'enter-code', 'decoupled', 'further-authorisation'] as const;
const all = Object.values(AuthorisationStatus);

describe('the states of a consent', () => {
  it('are seventeen, each with a row in the table', () => {
    expect(all).toHaveLength(17);
    for (const status of all) expect(typeof isTerminal(status)).toBe('boolean');
  });

  it('allow the moves of the documented table, those of time and of unusual banks, and no other', () => {
    const documented: Partial<Record<AuthorisationStatus, AuthorisationStatus[]>> = {
      AWAITING_AUTHORIZATION: ['AUTHORIZED', 'REJECTED', 'FAILED', 'AWAITING_FURTHER_AUTHORIZATION'],
      AWAITING_FURTHER_AUTHORIZATION: ['AUTHORIZED'],
      AWAITING_PRE_AUTHORIZATION: ['PRE_AUTHORIZED'],
      PRE_AUTHORIZED: ['AWAITING_AUTHORIZATION', 'AWAITING_DECOUPLED_AUTHORIZATION'],
      AWAITING_SCA_METHOD: ['AWAITING_SCA_CODE'],
      AWAITING_SCA_CODE: ['AUTHORIZED', 'FAILED'],
      AWAITING_DECOUPLED_AUTHORIZATION: ['AUTHORIZED'],
      AWAITING_DECOUPLED_PRE_AUTHORIZATION: ['PRE_AUTHORIZED'],
      AUTHORIZED: ['AWAITING_RE_AUTHORIZATION', 'EXPIRED', 'CONSUMED', 'REVOKED'],
      EXPIRED: ['AWAITING_RE_AUTHORIZATION'],
      AWAITING_RE_AUTHORIZATION: ['AUTHORIZED', 'EXPIRED'],
    };
    // Nobody answers for a day; a refusal is heard of by polling; one way of authorising goes over into another.
    const besides: Partial<Record<AuthorisationStatus, AuthorisationStatus[]>> = {
      AWAITING_AUTHORIZATION: ['EXPIRED', 'UNKNOWN', 'AWAITING_DECOUPLED_AUTHORIZATION'],
      AWAITING_FURTHER_AUTHORIZATION: ['EXPIRED', 'REJECTED', 'FAILED'],
      AWAITING_PRE_AUTHORIZATION: ['EXPIRED', 'REJECTED', 'FAILED', 'UNKNOWN', 'AWAITING_DECOUPLED_PRE_AUTHORIZATION'],
      PRE_AUTHORIZED: ['EXPIRED'],
      AWAITING_SCA_METHOD: ['EXPIRED', 'REJECTED', 'FAILED', 'AUTHORIZED', 'AWAITING_DECOUPLED_AUTHORIZATION'],
      AWAITING_SCA_CODE: ['EXPIRED', 'REJECTED', 'AWAITING_FURTHER_AUTHORIZATION'],
      AWAITING_DECOUPLED_AUTHORIZATION: ['EXPIRED', 'REJECTED', 'FAILED', 'AWAITING_FURTHER_AUTHORIZATION'],
      AWAITING_DECOUPLED_PRE_AUTHORIZATION: ['EXPIRED', 'REJECTED', 'FAILED'],
      AUTHORIZED: ['INVALID'],
      AWAITING_RE_AUTHORIZATION: ['AWAITING_FURTHER_AUTHORIZATION', 'AWAITING_DECOUPLED_AUTHORIZATION'],
      UNKNOWN: ['EXPIRED'],
    };
    for (const from of all) {
      const allowed = [...(documented[from] ?? []), ...(besides[from] ?? [])];
      const found = all.filter((to) => mayMove(from, to));
      expect({ from, to: found.toSorted() }).toEqual({ from, to: allowed.toSorted() });
    }
  });

  it('never come back from an end', () => {
    const ends = all.filter((status) => isTerminal(status));
    expect(ends.toSorted()).toEqual(['CONSUMED', 'FAILED', 'INVALID', 'REJECTED', 'REVOKED']);
    for (const end of ends) for (const to of all) expect(mayMove(end, to)).toBe(false);
  });

  it('are consumed only when authorised', () => {
    expect(sourcesOf('CONSUMED')).toEqual(['AUTHORIZED']);
  });

  it('permit reading only when authorised, and following a payment after its consent is used', () => {
    for (const status of all) {
      expect(permits(status, 'read')).toBe(status === 'AUTHORIZED');
      expect(permits(status, 'pay')).toBe(status === 'AUTHORIZED' || status === 'CONSUMED');
      expect(permits(status, 'follow')).toBe(status === 'AUTHORIZED' || status === 'CONSUMED');
    }
  });

  it('await a callback only where a browser is at the bank', () => {
    expect(all.filter((status) => awaitsCallback(status)).toSorted()).toEqual([
      'AWAITING_AUTHORIZATION',
      'AWAITING_PRE_AUTHORIZATION',
      'AWAITING_RE_AUTHORIZATION',
    ]);
  });

  it('last a day where somebody is awaited, and where nobody knows', () => {
    const settled = ['AUTHORIZED', 'CONSUMED', 'EXPIRED', 'FAILED', 'INVALID', 'REJECTED', 'REVOKED'];
    expect(all.filter((status) => !unfinishedStatuses().includes(status)).toSorted()).toEqual(settled);
    for (const status of unfinishedStatuses()) expect(mayMove(status, 'EXPIRED')).toBe(true);
  });

  it('hide the token until there is a use for it', () => {
    expect(showsToken('AWAITING_AUTHORIZATION')).toBe(false);
    expect(showsToken('AUTHORIZED')).toBe(true);
    expect(showsToken('REVOKED')).toBe(false);
  });

  it('follow from what the bank waits for', () => {
    expect(statusOfStep('redirect')).toBe('AWAITING_AUTHORIZATION');
    expect(statusOfStep('choose-method')).toBe('AWAITING_SCA_METHOD');
    expect(statusOfStep('enter-code')).toBe('AWAITING_SCA_CODE');
    expect(statusOfStep('decoupled')).toBe('AWAITING_DECOUPLED_AUTHORIZATION');
    expect(statusOfStep('further-authorisation')).toBe('AWAITING_FURTHER_AUTHORIZATION');
    expect(statusOfStep('redirect', 'pre-authorisation')).toBe('AWAITING_PRE_AUTHORIZATION');
    expect(statusOfStep('decoupled', 'pre-authorisation')).toBe('AWAITING_DECOUPLED_PRE_AUTHORIZATION');
    expect(statusOfStep('enter-code', 'pre-authorisation')).toBeUndefined();
  });

  it('are all reachable from how an authorisation begins', () => {
    const begin = (phase: 'access' | 'pre-authorisation') => steps.map((step) => statusOfStep(step, phase));
    const reached = new Set(
      [...begin('access'), ...begin('pre-authorisation')].filter((status) => status !== undefined),
    );
    for (const from of reached) for (const to of all) if (mayMove(from, to)) reached.add(to);
    expect(all.filter((status) => !reached.has(status))).toEqual([]);
  });

  const anyStatus = fc.constantFrom(...all);

  it('are changed by what a bank says only as the table allows', () => {
    const lands = (from: AuthorisationStatus, to: AuthorisationStatus) => to === from || mayMove(from, to);
    const waits = all.filter((status) => unfinishedStatuses().includes(status) && status !== 'UNKNOWN');
    fc.assert(
      fc.property(fc.constantFrom(...waits), fc.constantFrom(...steps), (from, step) => {
        expect(lands(from, statusAfter(from, step))).toBe(true);
      }),
    );
    const awaited = waits.filter((status) => status !== 'PRE_AUTHORIZED');
    fc.assert(
      fc.property(fc.constantFrom(...awaited), fc.constantFrom('REJECTED', 'FAILED', 'UNKNOWN'), (from, failure) => {
        const former = from === 'AWAITING_RE_AUTHORIZATION' ? 'EXPIRED' : null;
        expect(mayMove(from, statusFailed(from, failure, former))).toBe(true);
        expect(mayMove(from, statusGranted(from)) || from === 'AWAITING_SCA_METHOD').toBe(true);
      }),
    );
    for (const state of ['awaiting', 'revoked', 'expired', 'rejected'] as const) {
      expect(mayMove('AUTHORIZED', statusAtBank(state) ?? 'AUTHORIZED')).toBe(true);
    }
    expect(statusAtBank('authorised')).toBeUndefined();
  });

  it('are never changed against the table, whatever is tried', () => {
    fc.assert(
      fc.property(anyStatus, fc.array(anyStatus, { maxLength: 30 }), (first, tried) => {
        let status = first;
        for (const to of tried) {
          expect(sourcesOf(to).includes(status)).toBe(mayMove(status, to));
          if (!mayMove(status, to)) continue;
          expect(isTerminal(status)).toBe(false);
          status = to;
        }
      }),
    );
  });
});
