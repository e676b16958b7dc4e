import { describe, expect, it } from 'vitest';
import { answerOf, holdsAnswer, stateOf } from './callback-answer.js';

const state = '0123456789abcdef0123456789abcdef';
const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;

describe('the answer of a bank', () => {
  it('leaves out the fields of the form that stayed empty', () => {
    expect([...answerOf({ code: 'c', error: '', state, list: ['x'], deep: {} }).keys()]).toEqual(['code', 'state']);
    expect([...answerOf('text').keys()]).toEqual([]);
    expect([...answerOf(null).keys()]).toEqual([]);
  });

  it('is there when it holds a code, an error or a JARM response', () => {
    expect(holdsAnswer(answerOf({ code: 'c' }))).toBe(true);
    expect(holdsAnswer(answerOf({ error: 'access_denied' }))).toBe(true);
    expect(holdsAnswer(answerOf({ response: 'x' }))).toBe(true);
    expect(holdsAnswer(answerOf({ state }))).toBe(false);
  });

  it('says which authorisation it belongs to, also inside a JARM response', () => {
    expect(stateOf(answerOf({ state }))).toBe(state);
    expect(stateOf(answerOf({ response: jwt({ state }) }))).toBe(state);
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
