import { describe, expect, it } from 'vitest';
import {
  isFinalRefusal,
  isSettled,
  isSubmitted,
  MerchantPaymentStatus,
  paymentSourcesOf,
  pollDelaySeconds,
  statusOfPayment,
  statusOfPaymentConsent,
} from './payment-status.js';

describe('a payment’s statuses', () => {
  it('never go back from a settled one, except that a bank may still fail what it had accepted', () => {
    for (const to of Object.values(MerchantPaymentStatus)) {
      const fromSettled = paymentSourcesOf(to).filter(isSettled);
      expect(fromSettled).toEqual(to === 'FAILED' ? ['COMPLETED'] : []);
    }
  });

  it('reach submission only through an authorisation', () => {
    expect(paymentSourcesOf('AUTHORIZED')).toEqual(['AWAITING_AUTHORIZATION']);
    expect(paymentSourcesOf('PENDING')).toEqual(['AUTHORIZED', 'UNKNOWN']);
    expect(Object.values(MerchantPaymentStatus).filter(isSubmitted)).not.toContain('AUTHORIZED');
  });

  it('are the interface’s, and UNKNOWN for what we have never heard of', () => {
    expect(statusOfPayment('COMPLETED')).toBe('COMPLETED');
    expect(statusOfPayment('ACTIVE')).toBe('UNKNOWN');
    expect(statusOfPayment('SOMETHING_NEW')).toBe('UNKNOWN');
    expect(statusOfPayment(undefined)).toBe('UNKNOWN');
    expect(statusOfPayment('AUTHORIZED')).toBe('UNKNOWN');
  });

  it('follow the consent while nothing is submitted', () => {
    expect(statusOfPaymentConsent({ status: 'AUTHORIZED', consentToken: 't' })).toBe('AUTHORIZED');
    expect(statusOfPaymentConsent({ status: 'CONSUMED', consentToken: 't' })).toBe('AUTHORIZED');
    expect(statusOfPaymentConsent({ status: 'AUTHORIZED' })).toBeUndefined();
    expect(statusOfPaymentConsent({ status: 'REJECTED' })).toBe('REJECTED');
    expect(statusOfPaymentConsent({ status: 'AWAITING_AUTHORIZATION' })).toBeUndefined();
  });

  it('end on a plain no, and on nothing that may hide a yes', () => {
    expect(isFinalRefusal({ status: 400 })).toBe(true);
    expect(isFinalRefusal({ status: 424, institutionStatus: 403 })).toBe(true);
    for (const unsure of [
      {},
      { status: 401 },
      { status: 409 },
      { status: 424 },
      { status: 424, institutionStatus: 500 },
      { status: 424, institutionStatus: 429 },
      { status: 429 },
      { status: 503 },
    ]) {
      expect(isFinalRefusal(unsure)).toBe(false);
    }
  });

  it('are asked for ever more rarely, at least every hour', () => {
    expect([0, 1, 2, 30].map(pollDelaySeconds)).toEqual([2, 4, 8, 3_600]);
  });
});
