import { describe, expect, it } from 'vitest';
import { AuthorisationStatus } from '#libs/contract';
import {
  awaitsCallback,
  isTerminal,
  mayMove,
  permits,
  showsToken,
  sourcesOf,
  statusOfStep,
  unfinishedStatuses,
} from './consent-state.js';

const all = Object.values(AuthorisationStatus);

describe('the states of a consent', () => {
  it('are seventeen, each with a row in the table', () => {
    expect(all).toHaveLength(17);
    for (const status of all) expect(typeof isTerminal(status)).toBe('boolean');
  });

  it('allow the moves of the documented table', () => {
    const documented: [AuthorisationStatus, AuthorisationStatus][] = [
      ['AWAITING_AUTHORIZATION', 'AUTHORIZED'],
      ['AWAITING_AUTHORIZATION', 'REJECTED'],
      ['AWAITING_AUTHORIZATION', 'FAILED'],
      ['AWAITING_AUTHORIZATION', 'EXPIRED'],
      ['AWAITING_AUTHORIZATION', 'AWAITING_FURTHER_AUTHORIZATION'],
      ['AWAITING_FURTHER_AUTHORIZATION', 'AUTHORIZED'],
      ['AWAITING_PRE_AUTHORIZATION', 'PRE_AUTHORIZED'],
      ['PRE_AUTHORIZED', 'AWAITING_AUTHORIZATION'],
      ['PRE_AUTHORIZED', 'AWAITING_DECOUPLED_AUTHORIZATION'],
      ['AWAITING_SCA_METHOD', 'AWAITING_SCA_CODE'],
      ['AWAITING_SCA_CODE', 'AUTHORIZED'],
      ['AWAITING_DECOUPLED_AUTHORIZATION', 'AUTHORIZED'],
      ['AWAITING_DECOUPLED_PRE_AUTHORIZATION', 'PRE_AUTHORIZED'],
      ['AUTHORIZED', 'AWAITING_RE_AUTHORIZATION'],
      ['EXPIRED', 'AWAITING_RE_AUTHORIZATION'],
      ['AWAITING_RE_AUTHORIZATION', 'AUTHORIZED'],
      ['AWAITING_RE_AUTHORIZATION', 'EXPIRED'],
      ['AUTHORIZED', 'EXPIRED'],
      ['AUTHORIZED', 'CONSUMED'],
      ['AUTHORIZED', 'REVOKED'],
    ];
    for (const [from, to] of documented) expect(mayMove(from, to), `${from} -> ${to}`).toBe(true);
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

  it('leave a consent that is being renewed out of the sweep of unfinished ones', () => {
    expect(unfinishedStatuses()).not.toContain('AWAITING_RE_AUTHORIZATION');
    expect(unfinishedStatuses()).toContain('AWAITING_AUTHORIZATION');
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
  });
});
