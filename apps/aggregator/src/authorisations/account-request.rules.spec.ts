import { describe, expect, it } from 'vitest';
import type { AccountRequest, Feature } from '#libs/contract';
import { accountTerms } from './account-request.rules.js';

const at = new Date('2026-11-21T12:00:00Z');
const features: Feature[] = [
  'INITIATE_ACCOUNT_REQUEST',
  'ACCOUNTS',
  'ACCOUNT',
  'ACCOUNT_TRANSACTIONS',
  'CREATE_DOMESTIC_SINGLE_PAYMENT',
];
const terms = (request?: AccountRequest) => accountTerms(request, { features, data: { maxConsentDays: 90 } }, at);
const faults = (request: AccountRequest) => terms(request).issues.map(({ parameter }) => parameter);

describe('the terms of an account consent', () => {
  it('are everything the institution can read and ninety days when nothing is asked', () => {
    expect(terms()).toEqual({
      terms: {
        featureScope: ['ACCOUNTS', 'ACCOUNT', 'ACCOUNT_TRANSACTIONS'],
        expiresAt: new Date('2027-02-19T12:00:00Z'),
      },
      issues: [],
    });
  });

  it('end when asked, but no later than the institution allows', () => {
    expect(terms({ expiresAt: '2026-12-01T00:00:00Z' }).terms.expiresAt).toEqual(new Date('2026-12-01T00:00:00Z'));
    expect(terms({ expiresAt: '2030-01-01T00:00:00Z' }).terms.expiresAt).toEqual(new Date('2027-02-19T12:00:00Z'));
  });

  it('refuse a scope the institution does not have', () => {
    expect(faults({ featureScope: ['ACCOUNTS', 'IDENTITY'] })).toEqual(['$.accountRequest.featureScope']);
    expect(faults({ featureScope: ['CREATE_DOMESTIC_SINGLE_PAYMENT'] })).toEqual(['$.accountRequest.featureScope']);
    expect(faults({ featureScope: [] })).toEqual(['$.accountRequest.featureScope']);
  });

  it('refuse an end in the past and a window that is turned round', () => {
    expect(faults({ expiresAt: '2026-11-21T12:00:00Z' })).toEqual(['$.accountRequest.expiresAt']);
    expect(faults({ transactionFrom: '2026-02-01T00:00:00Z', transactionTo: '2026-01-01T00:00:00Z' })).toEqual([
      '$.accountRequest.transactionFrom',
    ]);
  });
});
