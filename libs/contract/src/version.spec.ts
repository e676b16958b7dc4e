import type { Consent, Transaction } from './index.js';
import { Problem } from './problem.js';
import { consentIn, readApiVersion, readWith, transactionWith, versionHeaders } from './version.js';

function refusal(action: () => unknown): Problem {
  try {
    action();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('the version header', () => {
  it.each([
    ['nothing', {}, '1.0'],
    ['a blank', { 'x-service-api-version': ' ' }, '1.0'],
    ['1', { 'x-service-api-version': '1' }, '1.0'],
    ['1.0 under the own name', { 'x-tributary-api-version': '1.0' }, '1.0'],
    ['2.0-ALPHA', { 'x-service-api-version': '2.0-ALPHA' }, '2.0-ALPHA'],
    ['2.0-ALPHA under the own name', { 'x-tributary-api-version': '2.0-ALPHA' }, '2.0-ALPHA'],
    ['the same twice', { 'x-service-api-version': '1', 'x-tributary-api-version': '1.0' }, '1.0'],
    ['another service’s name', { 'x-other-api-version': '3' }, '1.0'],
  ])('reads %s', (_, headers, version) => {
    expect(readApiVersion(headers, 'Tributary')).toBe(version);
  });

  it.each([
    ['x-service-api-version', { 'x-service-api-version': '3.0' }],
    ['x-service-api-version', { 'x-service-api-version': 'toString' }],
    ['x-service-api-version', { 'x-service-api-version': '2.0-alpha' }],
    ['x-service-api-version', { 'x-service-api-version': ['1.0', '2.0-ALPHA'] }],
    ['x-tributary-api-version', { 'x-tributary-api-version': '2' }],
    ['x-tributary-api-version', { 'x-service-api-version': '1.0', 'x-tributary-api-version': '2.0-ALPHA' }],
  ])('is refused by its name, %s', (parameter, headers) => {
    const { status, issues } = refusal(() => readApiVersion(headers, 'tributary'));
    expect(status).toBe(400);
    expect(issues).toMatchObject([{ code: 'INVALID_PROPERTY_UNEXPECTED_VALUE', parameter }]);
  });

  it('has one name when the service is called service', () => {
    expect(versionHeaders('service')).toEqual(['x-service-api-version']);
  });
});

const consent: Consent = {
  id: '0b8d4f5c-6d0a-4b5e-9f5b-0a8c7f1f3a11',
  userUuid: '0b8d4f5c-6d0a-4b5e-9f5b-0a8c7f1f3a12',
  applicationUserId: 'user',
  referenceId: 'reference',
  institutionId: 'bank',
  status: 'AUTHORIZED',
  createdAt: '2024-01-01T00:00:00.000Z',
  transactionFrom: '2024-01-01T00:00:00.000Z',
  transactionTo: '2024-01-02T00:00:00.000Z',
  expiresAt: '2024-04-01T00:00:00.000Z',
  timeToExpire: 'P89D',
  featureScope: ['ACCOUNTS'],
  consentToken: 'token',
  state: 'state',
  authorizedAt: '2024-01-01T00:00:00.000Z',
  institutionConsentId: 'aac-1',
  lastConfirmedAt: '2024-01-01T00:00:00.000Z',
};

describe('a consent', () => {
  it('is whole in version 1', () => {
    expect(consentIn('1.0', consent)).toBe(consent);
  });

  it('lacks in version 2 what the version drops, and nothing else', () => {
    const before = structuredClone(consent);
    const shown = consentIn('2.0-ALPHA', consent);
    expect(Object.keys(shown)).toEqual([
      'id',
      'userUuid',
      'applicationUserId',
      'institutionId',
      'status',
      'createdAt',
      'consentToken',
      'state',
      'institutionConsentId',
      'lastConfirmedAt',
    ]);
    expect(consent).toEqual(before);
  });
});

describe('with', () => {
  it.each<[unknown, string[]]>([
    [undefined, []],
    ['', []],
    ['merchant', ['merchant']],
    ['merchants,categories', ['merchant', 'categorisation']],
    [
      ['categorisation', 'merchant , merchants'],
      ['categorisation', 'merchant'],
    ],
  ])('reads %j', (value, expected) => {
    expect([...readWith(value)]).toEqual(expected);
  });

  it.each(['colour', 'merchant,colour', 'constructor', ['merchant', { a: 1 }]])('refuses %j by its name', (value) => {
    expect(refusal(() => readWith(value)).issues).toMatchObject([{ parameter: 'with' }]);
  });

  const enrichment = {
    transactionHash: { hash: 'hash' },
    categorisation: { categories: ['rent'] },
    merchant: { merchantName: 'Shop' },
    location: 'York',
  };
  const transaction: Transaction = { id: '1', enrichment };

  it.each<[unknown, string[]]>([
    [undefined, ['transactionHash']],
    ['merchant', ['transactionHash', 'location', 'merchant']],
    ['categories', ['transactionHash', 'location', 'categorisation']],
    ['merchants,categorisation', ['transactionHash', 'location', 'merchant', 'categorisation']],
  ])('%j shows so much of the enrichment', (value, members) => {
    expect(Object.keys(transactionWith(readWith(value), transaction).enrichment ?? {})).toEqual(members);
  });

  it('makes no enrichment where there is none', () => {
    expect(transactionWith(readWith('merchant'), { id: '1' })).toEqual({ id: '1' });
    const unhashed = { id: '1', enrichment: { location: 'York' } };
    expect(transactionWith(readWith(undefined), unhashed)).toEqual({ id: '1' });
  });
});
