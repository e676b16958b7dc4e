import { likeness } from './likeness.js';

const like = (a: string | null, b: string | null): number | undefined => likeness(a, b, new Map());

it('has no opinion where a text is missing or says nothing', () => {
  expect([like(null, 'TESCO'), like('TESCO', null), like('***', 'TESCO')]).toEqual([undefined, undefined, undefined]);
});

it('does not mind case, accents and signs', () => {
  expect(like('CAFÉ-RIO', 'cafe rio')).toBe(1);
});

it.each([
  ['TESCO STORES 2209', 'CARD PAYMENT TO TESCO STORES 2209 LONDON GB'],
  ['AMZNMKTPLACE PAYM', 'AMZNMKTPLACE PAYMENTS LUXEMBOURG'],
])('finds %j again in %j', (shorter, longer) => {
  expect(like(shorter, longer)).toBeGreaterThan(0.8);
});

it.each([
  ['TESCO STORES 2209', 'NETFLIX.COM'],
  ['UBER *TRIP', 'SHELL OXFORD ROAD'],
])('keeps %j and %j apart', (one, other) => {
  expect(like(one, other)).toBeLessThan(0.3);
});
