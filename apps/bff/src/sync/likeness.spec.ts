import { areApart, likeness, numberedLikeness } from './likeness.js';

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

it.each([
  ['INVOICE 20260017', 'INVOICE 20260018'],
  ['RECHNUNG 2026-017', 'RECHNUNG 2026-018'],
  ['ORDER 101 OF SHOP 4411', 'ORDER 102 OF SHOP 4411'],
])('takes %j and %j for two things, however alike they read', (one, other) => {
  expect(areApart(one, other)).toBe(true);
  expect(like(one, other)).toBeGreaterThan(0.8);
  expect(numberedLikeness(one, other, new Map())).toBe(0.2);
});

it.each([
  ['INVOICE 20260017', 'FROM CUSTOMER INVOICE 20260017 AT 1200'],
  ['VISA 4411 BAKERY', 'bakery'],
  ['BAKERY 02 MAR 12:31', 'BAKERY 03 MAR 08:05'],
  [null, 'INVOICE 20260017'],
])('does not hold numbers against %j and %j', (one, other) => {
  expect(areApart(one, other)).toBe(false);
});
