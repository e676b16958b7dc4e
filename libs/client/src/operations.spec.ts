import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { operations } from '#libs/contract';
import { AggregatorClient } from './aggregator-client.js';
import { ClientError } from './client-error.js';
import { DownloadedFile } from './http-call.js';

interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const pdf = Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff, 0x00, 0xfe]);
const lists =
  /^\/(accounts|consents|institutions|features|applications)$|constraints|(payments|debits|statements|transactions|beneficiaries)$/;

let server: Server;
let seen: Seen[] = [];
let refusing = false;
let client: AggregatorClient;

/** Answers every operation in the outline that it has. */
beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      if (refusing) return response.writeHead(403).end('{"error":{"issues":[{"code":"FORBIDDEN"}]}}');
      const at = url.replace(/\?.*/, '');
      if (at.endsWith('/file')) return response.writeHead(200, { 'content-type': 'application/pdf' }).end(pdf);
      if (method === 'DELETE' && at.startsWith('/applications')) return response.writeHead(204).end();
      if (at === '/users' && method === 'GET') return response.writeHead(200).end('[]');
      const data = method === 'GET' && lists.test(at) ? [] : {};
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data, links: {} }));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const credentials = { applicationId: 'app', applicationSecret: 'secret' };
  client = new AggregatorClient({ baseUrl: `http://127.0.0.1:${port}`, ...credentials, apiVersion: '2.0-ALPHA' });
});

beforeEach(() => {
  seen = [];
  refusing = false;
});

afterAll(async () => {
  await client.close();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const psu = { psuId: 'jane', psuCorporateId: 'acme', psuIpAddress: '192.0.2.1' };
const account = { institutionId: 'bank', applicationUserId: 'user' };
const identification = { type: 'IBAN', identification: 'DE89370400440532013000' } as const;
const payment = {
  paymentIdempotencyId: 'a1',
  type: 'DOMESTIC_PAYMENT',
  amount: { amount: 1, currency: 'EUR' },
  payee: { name: 'Jane', accountIdentifications: [identification] },
} as const;
const paymentBody = { ...payment, payee: { ...payment.payee, accountIdentifications: [identification] } };
const application = { name: 'n', merchantCategoryCode: '5411', ppcUserGroup: 'FINANCE', isContractPresent: true };
const vrp = { recurringPaymentCategory: 'ONGOING' };
const country = { institutionIds: ['bank', 'other'], institutionCountryCode: 'DE' };
const preAuthorised = {
  ...account,
  scope: 'PIS' as const,
  payee: { name: 'Jane', country: 'IT', accountIdentifications: [identification] },
  payer: { accountIdentifications: [identification] },
  amount: { amount: 1, currency: 'EUR' },
  reference: 'r',
};

/** One call per operation; ids stand for themselves, so that the path is the template. */
const calls: Record<string, () => Promise<unknown>> = {
  initiateAccountRequest: () => client.initiateAccountRequest(account, psu),
  reAuthoriseAccount: () => client.reAuthoriseAccount('token', psu),
  updatePreAuthoriseAccountConsent: () => client.updatePreAuthoriseAccountConsent('token', account, psu),
  initiateEmbeddedAccountRequest: () => client.initiateEmbeddedAccountRequest(account, psu),
  updateEmbeddedAccountRequest: () => client.updateEmbeddedAccountRequest('consentId', account, psu),
  createPreAuthorisationRequest: () => client.createPreAuthorisationRequest({ ...account, scope: 'AIS' }, psu),
  createPaymentPreAuthorisationRequest: () => client.createPaymentPreAuthorisationRequest(preAuthorised, psu),
  createPaymentAuthorisation: () => client.createPaymentAuthorisation({ ...account, paymentRequest: paymentBody }, psu),
  getConsents: () => client.getConsents(),
  getConsentById: () => client.getConsentById('consentId'),
  delete: () => client.delete('consentId'),
  extendConsent: () => client.extendConsent('consentId', { lastConfirmedAt: '2024-01-01T00:00:00.000Z' }),
  getConsentBySingleAccessConsent: () => client.getConsentBySingleAccessConsent({ oneTimeToken: 't' }),
  createConsentWithCode: () => client.createConsentWithCode({ authCode: 'c', authState: 's' }),
  getUsers: () => client.getUsers(),
  addUser: () => client.addUser({}),
  getUser: () => client.getUser('userUuid'),
  patchUser: () => client.patchUser('userUuid', []),
  deleteUser: () => client.deleteUser('userUuid'),
  getInstitutions: () => client.getInstitutions(),
  getInstitution: () => client.getInstitution('institutionId'),
  getFeatureDetails: () => client.getFeatureDetails(),
  getPaymentConstraintsRulesByInstitution: () =>
    client.getPaymentConstraintsRulesByInstitution({ ...country, paymentType: 'DOMESTIC_PAYMENT' }),
  getAccountConstraintsRulesByInstitution: () => client.getAccountConstraintsRulesByInstitution(country),
  getApplicationMe: () => client.getApplicationMe(),
  createSubApplication: () => client.createSubApplication(application),
  searchApplications: () => client.searchApplications(),
  getApplicationById: () => client.getApplicationById('applicationId'),
  updateApplication: () => client.updateApplication('applicationId', application),
  deleteApplication: () => client.deleteApplication('applicationId'),
  createApplicationVRPConfigurationByApplicationId: () =>
    client.createApplicationVRPConfigurationByApplicationId('applicationId', vrp),
  updateApplicationVRPConfigurationByApplicationId: () =>
    client.updateApplicationVRPConfigurationByApplicationId('applicationId', vrp),
  getApplicationVRPConfigurationByApplicationId: () =>
    client.getApplicationVRPConfigurationByApplicationId('applicationId'),
  getAccounts: () => client.getAccounts('token', psu),
  getAccount: () => client.getAccount('token', 'accountId', psu),
  getAccountBalances: () => client.getAccountBalances('token', 'accountId', psu),
  getTransactions: () => client.getTransactions('token', 'accountId', { psu }),
  getRealTimeTransactions: () => client.getRealTimeTransactions('token', 'accountId', { psu }),
  getStatements: () => client.getStatements('token', 'accountId'),
  getStatement: () => client.getStatement('token', 'accountId', 'statementId'),
  getStatementFile: () => client.getStatementFile('token', 'accountId', 'statementId'),
  getBeneficiaries: () => client.getBeneficiaries('token', 'accountId'),
  getAccountDirectDebits: () => client.getAccountDirectDebits('token', 'accountId'),
  getAccountPeriodicPayments: () => client.getAccountPeriodicPayments('token', 'accountId'),
  getAccountScheduledPayments: () => client.getAccountScheduledPayments('token', 'accountId'),
  getIdentity: () => client.getIdentity('token'),
};

const paid = /BulkPayment|EmbeddedPayment|updatePaymentAuthorisation/;
const tags = new Set([
  'Authorisations',
  'Consents',
  'Users',
  'Application',
  'Application Management',
  'Institutions',
  'Constraints',
  'Financial Data',
]);
const covered = operations.filter(({ tag, operationId }) => tags.has(tag) && !paid.test(operationId));

it('has a method for every operation of the tags, authorisations of bulk and embedded payments aside', () => {
  expect(Object.keys(calls).toSorted()).toEqual(covered.map(({ operationId }) => operationId).toSorted());
});

it.each(covered)('$operationId is $method $path', async ({ operationId, method, path }) => {
  await calls[operationId]?.();
  expect(seen).toHaveLength(1);
  expect(seen[0]?.method).toBe(method);
  expect(seen[0]?.url.replace(/\?.*/, '')).toBe(path.replaceAll(/[{}]/g, ''));
  expect(seen[0]?.headers['x-service-api-version']).toBe('2.0-ALPHA');
});

it.each(Object.keys(calls))('%s fails as a ClientError of its name', async (operationId) => {
  refusing = true;
  const outcome = await calls[operationId]?.().catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(ClientError);
  expect(outcome).toMatchObject({ operation: operationId, status: 403, issues: [{ code: 'FORBIDDEN' }] });
});

it('carries the consent and the PSU to authorisations and reads', async () => {
  for (const name of ['reAuthoriseAccount', 'updatePreAuthoriseAccountConsent', 'getRealTimeTransactions']) {
    await calls[name]?.();
  }
  for (const { headers } of seen) {
    expect(headers).toMatchObject({ consent: 'token', 'psu-id': 'jane', 'psu-ip-address': '192.0.2.1' });
  }
});

it('asks for the page that a cursor names, and for enrichment', async () => {
  await client.getRealTimeTransactions('token', 'a', { cursor: 'x y' });
  await client.getTransactions('token', 'a', { with: ['merchant', 'categorisation'], limit: 3 });
  expect(seen.map(({ url }) => url)).toEqual([
    '/accounts/a/real-time/transactions?cursor=x+y',
    '/accounts/a/transactions?with=merchant&with=categorisation&limit=3',
  ]);
});

it('asks for constraints by a comma separated list', async () => {
  await calls.getPaymentConstraintsRulesByInstitution?.();
  expect(decodeURIComponent(seen[0]?.url ?? '')).toBe(
    '/institutions/constraints/payments?institutionIds=bank,other&institutionCountryCode=DE&paymentType=DOMESTIC_PAYMENT',
  );
});

it('hands a statement file on byte by byte', async () => {
  const file = await client.getStatementFile('token', 'a', 's');
  expect(file).toEqual(new DownloadedFile('application/pdf', pdf));
});
