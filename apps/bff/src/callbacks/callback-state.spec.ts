import { describe, expect, it } from 'vitest';
import { hashOfState, newCallbackState, outcomeOf, reasonOfError } from './callback-state.js';

describe('the state of a callback', () => {
  it('is stored as a hash only, and found by it', () => {
    const { state, hash } = newCallbackState();
    expect(hash).not.toContain(state);
    expect(hashOfState(state)).toBe(hash);
    expect(newCallbackState().state).not.toBe(state);
  });

  it('is nothing when it cannot be one of ours', () => {
    for (const odd of [undefined, '', 'abc', ['a'.repeat(64), 'b'], 'A'.repeat(64), 'a'.repeat(65)])
      expect(hashOfState(odd)).toBeUndefined();
  });
});

describe('the query of a callback', () => {
  it('brings a token, an error or nothing', () => {
    expect(outcomeOf({ 'one-time-token': 't' })).toEqual({ kind: 'token', oneTimeToken: 't' });
    expect(outcomeOf({ error: 'access_denied', 'error-source': 'user' })).toEqual({
      kind: 'error',
      error: 'access_denied',
      source: 'user',
    });
    expect(outcomeOf({})).toEqual({ kind: 'nothing' });
    expect(outcomeOf({ error: ['a', 'b'] })).toEqual({ kind: 'nothing' });
  });

  it('never lets a bank’s own words through', () => {
    expect(reasonOfError('access_denied')).toBe('access-denied');
    expect(reasonOfError('<script>')).toBe('authorisation-failed');
    expect(reasonOfError('toString')).toBe('authorisation-failed');
  });
});
