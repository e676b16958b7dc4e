import { describe, expect, it } from 'vitest';
import { answerOf, claimOf, holdsAnswer, stateOf } from './callback-answer.js';

const state = '0123456789abcdef0123456789abcdef';
const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;

describe('the answer of a bank', () => {
  it('leaves out the fields of the form that stayed empty', () => {
    expect([...answerOf({ code: 'c', error: '', state, list: ['x'], deep: {} }).keys()]).toEqual(['code', 'state']);
    expect([...answerOf('text').keys()]).toEqual([]);
    expect([...answerOf(null).keys()]).toEqual([]);
  });

  it('is there when it holds a code, an error, a JARM response or at least our state', () => {
    expect(holdsAnswer(answerOf({ code: 'c' }))).toBe(true);
    expect(holdsAnswer(answerOf({ error: 'access_denied' }))).toBe(true);
    expect(holdsAnswer(answerOf({ response: 'x' }))).toBe(true);
    expect(holdsAnswer(answerOf({ state }))).toBe(true);
    expect(holdsAnswer(answerOf({ utm: 'x' }))).toBe(false);
  });

  it('says which authorisation it belongs to, also inside a JARM response', () => {
    expect(stateOf(answerOf({ state }))).toBe(state);
    expect(stateOf(answerOf({ response: jwt({ state }) }))).toBe(state);
  });

  it('says the code and the error, also inside a JARM response', () => {
    expect(claimOf(answerOf({ code: 'c', state }), 'code')).toBe('c');
    expect(claimOf(answerOf({ response: jwt({ state, code: 'c' }) }), 'code')).toBe('c');
    expect(claimOf(answerOf({ response: jwt({ state, error: 'access_denied' }) }), 'error')).toBe('access_denied');
    expect(claimOf(answerOf({ response: jwt({ state }) }), 'error')).toBeUndefined();
  });

  it.each([
    { state: 'short' },
    { state: state.toUpperCase() },
    { response: 'nonsense' },
    { response: jwt({ state: 7 }) },
    { response: 'a.!!!.c' },
    {},
  ])('says nothing for %j', (answer) => {
    expect(stateOf(answerOf(answer))).toBeUndefined();
  });
});
