import { describe, expect, it } from 'vitest';
import { canonicalText, firstDifference } from './request-difference.js';

const authorised = {
  paymentIdempotencyId: 'p1',
  amount: { amount: 12.5, currency: 'GBP' },
  payee: { name: 'Shop', accountIdentifications: [{ type: 'SORT_CODE', identification: '400100' }] },
};

describe('the difference between what was authorised and what is sent', () => {
  it('is none for equal requests, whatever the order of their members', () => {
    const { payee, amount, paymentIdempotencyId } = authorised;
    expect(firstDifference(authorised, { payee, amount, paymentIdempotencyId })).toBeUndefined();
    expect(canonicalText({ payee, amount, paymentIdempotencyId })).toBe(canonicalText(authorised));
  });

  it('names the first property that differs', () => {
    expect(firstDifference(authorised, { ...authorised, amount: { amount: 12.51, currency: 'GBP' } })).toBe(
      '$.amount.amount',
    );
    const payee = { ...authorised.payee, accountIdentifications: [{ type: 'SORT_CODE', identification: '400101' }] };
    expect(firstDifference(authorised, { ...authorised, payee })).toBe(
      '$.payee.accountIdentifications[0].identification',
    );
  });

  it('sees what was added and what is missing', () => {
    expect(firstDifference(authorised, { ...authorised, reference: 'x' })).toBe('$.reference');
    const { amount: _amount, ...rest } = authorised;
    expect(firstDifference(authorised, rest)).toBe('$.amount');
    const none = { ...authorised, payee: { ...authorised.payee, accountIdentifications: [] } };
    expect(firstDifference(authorised, none)).toBe('$.payee.accountIdentifications');
  });

  it('does not tell an undefined member from an absent one', () => {
    expect(firstDifference(authorised, { ...authorised, reference: undefined })).toBeUndefined();
    expect(canonicalText({ ...authorised, reference: undefined })).toBe(canonicalText(authorised));
  });
});
