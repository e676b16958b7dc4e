import {
  AccountAuthorisationRequest,
  ApplicationRequest,
  ApplicationUserPatchRequest,
  ConsentAuthCodeRequest,
  EmbeddedAccountAuthorisationRequest,
  ExtendConsentRequest,
  NewApplicationUser,
  PaymentAuthorisationRequest,
  PaymentPreAuthorisationRequest,
  PaymentRequest,
  PreAuthorisationRequest,
  ResetWebhookSecretRequest,
  VrpConfiguration,
} from './index.js';

export type Class = new () => object;
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const uuid = '0b8d4f5c-6d0a-4b5e-9f5b-0a8c7f1f3a11';
const iban = { type: 'IBAN', identification: 'DE89370400440532013000' };
const address = { addressLines: ['1 High Street'], country: 'GB', county: ['Kent'], addressType: 'POSTAL' };
const amount = { amount: 10.5, currency: 'EUR' };
const authorisation = {
  userUuid: uuid,
  applicationUserId: 'user',
  institutionId: 'bank',
  callback: 'https://app.example/callback?a=1',
  redirect: { url: 'http://localhost:3000/' },
  oneTimeToken: true,
  forwardParameters: ['a=1', 'b'],
};
const accountRequest = {
  transactionFrom: '2024-02-29T00:00:00.000Z',
  transactionTo: '2024-03-01T23:59:59+0100',
  expiresAt: '2024-03-31T00:00:00.123456+01:00',
  accountIdentifiers: { accountId: '1', accountIdentification: iban },
  accountIdentifiersForTransaction: [{ accountIdentification: iban }],
  accountIdentifiersForBalance: [],
  featureScope: ['ACCOUNTS', 'ACCOUNT'],
};
const paymentRequest = {
  paymentIdempotencyId: 'a-1_B',
  payer: { name: 'Jane', accountIdentifications: [iban], address },
  reference: 'Invoice 12',
  contextType: 'BILL',
  purposeCode: 'RENT',
  type: 'DOMESTIC_PERIODIC_PAYMENT',
  payee: {
    name: 'Shop',
    accountIdentifications: [iban, { type: 'BIC', identification: 'X' }],
    merchantCategoryCode: '5411',
  },
  periodicPayment: { frequency: { type: 'MONTHLY', intervalMonth: 1 }, numberOfPayments: 3, nextPaymentAmount: amount },
  internationalPayment: {
    currencyOfTransfer: 'USD',
    exchangeRateInformation: { unitCurrency: 'EUR', rate: 1.1, rateType: 'AGREED' },
    priority: 'URGENT',
  },
  amount,
  paymentDateTime: '2030-01-01T10:00:00Z',
  readRefundAccount: false,
};

const simplePayment = {
  paymentIdempotencyId: 'a1',
  type: 'DOMESTIC_PAYMENT',
  payee: { name: 'Shop', accountIdentifications: [iban] },
  amount,
};

/** Request bodies in which every member occurs: what the test of the schemas changes. */
export const bodies: readonly (readonly [Class, Json])[] = [
  [AccountAuthorisationRequest, { ...authorisation, accountRequest }],
  [AccountAuthorisationRequest, { ...authorisation, forwardParameters: { a: '1', b: 2 } }],
  [
    EmbeddedAccountAuthorisationRequest,
    {
      ...authorisation,
      accountRequest: { featureScope: ['ACCOUNTS'] },
      userCredentials: { id: 'jane', corporateId: 'acme', password: 'secret' },
      selectedScaMethod: { id: '1', type: 'SMS_OTP', description: 'd', information: 'i', data: ['x'] },
      scaCode: '123',
    },
  ],
  [PreAuthorisationRequest, { ...authorisation, scope: 'AIS' }],
  [
    PaymentPreAuthorisationRequest,
    {
      ...authorisation,
      scope: 'PIS',
      payee: { name: 'Shop', accountIdentifications: [iban], country: 'IT', address },
      payer: { accountIdentifications: [iban] },
      amount,
      reference: 'r',
    },
  ],
  [PaymentAuthorisationRequest, { ...authorisation, paymentRequest: simplePayment }],
  [PaymentRequest, paymentRequest],
  [ConsentAuthCodeRequest, { authCode: 'c', authState: 's' }],
  [ExtendConsentRequest, { lastConfirmedAt: '2024-01-01T00:00:00Z' }],
  [NewApplicationUser, { applicationUserId: 'u', referenceId: 'r', vopOptOut: false }],
  [ApplicationUserPatchRequest, { op: 'add', path: '/referenceId', value: 'x' }],
  [
    ApplicationRequest,
    {
      name: 'Shop [1]',
      merchantCategoryCode: '5411',
      ppcUserGroup: 'FINANCE',
      callbackUrls: ['https://app.example'],
      isContractPresent: true,
    },
  ],
  [ApplicationRequest, { name: 'n', merchantCategoryCode: 742, ppcUserGroup: 'TAX', isContractPresent: false }],
  [
    VrpConfiguration,
    {
      maximumIndividualAmount: amount,
      maximumCumulativeNumberOfPayments: 0,
      periodicLimits: [{ maximumAmount: amount, frequency: 'MONTHLY', alignment: 'CONSENT' }],
      recurringPaymentCategory: 'ONGOING',
    },
  ],
  [ResetWebhookSecretRequest, { delay: 86_400 }],
];

const groups: readonly (readonly Json[])[] = [
  [null, true, false, 0, -0, -1, 1, 0.1, 9999, 10_000, 86_401, 5e-324, 1e300, {}, [], [null], [[]], [{}], ['']],
  ['', ' ', 'a', 'a\n', '\uFE0F', '\uFE0F\uFE0F', '😀'.repeat(18), '😀'.repeat(19), 'x'.repeat(18), 'x'.repeat(35)],
  ['x'.repeat(36), 'x'.repeat(100), 'x'.repeat(101), 'x'.repeat(256), 'é'.repeat(257), '0000', '１２３４', '12345'],
  [uuid.toUpperCase(), `urn:uuid:${uuid}`, `${uuid}\n`, 'EUR', 'eur', 'IT', 'ACCOUNTS', 'AIS', 'IBAN', 'toString'],
  ['2023-02-29T00:00:00Z', '2100-02-29T00:00:00Z', '2000-02-29t00:00:00z', '2024-04-31T00:00:00Z'],
  ['2024-01-01T24:00:00Z', '2016-12-31T23:59:60Z', '2024-01-01T00:00Z', '2024-01-01', '2024-01-01T00:00:00'],
  ['0000-01-01T00:00:00Z', '0010-01-01T00:00:00+18:00', '9999-12-31T23:59:59Z', '9999-12-31T23:59:59-00:01'],
  ['2024-01-01T00:00:00+19:00', '2024-01-01T00:00:00.1234567890Z', '2024-01-01 00:00:00Z'],
  ['http://localhost', 'https://a.b:65535/x?[y]=é#z', 'https://a.b:65536', 'ftp://a.b', 'http://', 'http:///a'],
  [
    'http://1.2.3.4',
    'http://1.2.3.256',
    'http://1.2.3',
    'http://a.1',
    'http://0x7f.1',
    'http://08.1.1.1',
    'http://[::1]:1',
  ],
  ['http://user:pw@host', 'http://a b', 'http://a/b c', '//a.b', 'https://a..b', `https://a.b/${'x'.repeat(2100)}`],
  ['https://münchen.example', 'https://a.b\\c', 'javascript:alert(1)', 'HTTPS://a.b', 'https://a_b.c', 'https://-a.b'],
];

/** Values at the edges of the rules: of their forms, lengths, ranges and types. */
export const edges: readonly Json[] = groups.flat();
