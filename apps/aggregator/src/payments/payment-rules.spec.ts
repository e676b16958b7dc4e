import { describe, expect, it } from 'vitest';
import type { PaymentRequest } from '#libs/contract';
import { paymentIssues, paymentTypeRule } from './payment-rules.js';

const at = new Date('2026-11-21T12:00:00Z');
const payment: PaymentRequest = {
  paymentIdempotencyId: 'p1',
  type: 'DOMESTIC_PAYMENT',
  amount: { amount: 12.5, currency: 'GBP' },
  payee: {
    name: 'Shop',
    accountIdentifications: [
      { type: 'SORT_CODE', identification: '400100' },
      { type: 'ACCOUNT_NUMBER', identification: '12345678' },
    ],
  },
};
const faults = (changes: Partial<PaymentRequest>) => {
  return paymentIssues({ ...payment, ...changes }, at, '$.paymentRequest').map(({ parameter }) => parameter);
};

describe('the rules of a payment', () => {
  it('find nothing wrong with a domestic payment', () => {
    expect(faults({})).toEqual([]);
  });

  it('refuse amounts that are nothing or finer than the currency', () => {
    expect(faults({ amount: { amount: 0, currency: 'GBP' } })).toEqual(['$.paymentRequest.amount.amount']);
    expect(faults({ amount: { amount: 0.001, currency: 'GBP' } })).toEqual(['$.paymentRequest.amount.amount']);
    expect(faults({ amount: { amount: 1.5, currency: 'JPY' } })).toEqual(['$.paymentRequest.amount.amount']);
  });

  it('demand what the type cannot do without', () => {
    expect(faults({ type: 'DOMESTIC_SCHEDULED_PAYMENT' })).toEqual(['$.paymentRequest.paymentDateTime']);
    expect(faults({ type: 'DOMESTIC_PERIODIC_PAYMENT' })).toEqual([
      '$.paymentRequest.paymentDateTime',
      '$.paymentRequest.periodicPayment',
    ]);
    expect(faults({ type: 'INTERNATIONAL_PAYMENT' })).toEqual([
      '$.paymentRequest.internationalPayment',
      '$.paymentRequest.payee.address',
    ]);
  });

  it('refuse a date that is not ahead', () => {
    const type = 'DOMESTIC_SCHEDULED_PAYMENT';
    expect(faults({ type, paymentDateTime: '2026-11-21T12:00:00Z' })).toEqual(['$.paymentRequest.paymentDateTime']);
    expect(faults({ type, paymentDateTime: '2026-11-22T12:00:00Z' })).toEqual([]);
  });

  it('refuse malformed and repeated account identifications', () => {
    const accountIdentifications = [
      { type: 'SORT_CODE', identification: '4001' },
      { type: 'SORT_CODE', identification: '40-01-00' },
    ] as const;
    expect(faults({ payee: { name: 'Shop', accountIdentifications: [...accountIdentifications] } })).toEqual([
      '$.paymentRequest.payee.accountIdentifications[0].identification',
      '$.paymentRequest.payee.accountIdentifications',
    ]);
  });

  it('send bulk and recurring payments to their own endpoints', () => {
    expect(faults({ type: 'BULK_PAYMENT' })).toEqual(['$.paymentRequest.type']);
    expect(paymentTypeRule('DOMESTIC_VARIABLE_RECURRING_PAYMENT')).toBeUndefined();
  });
});
