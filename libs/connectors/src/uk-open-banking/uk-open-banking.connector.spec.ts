import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { PaymentType, type PaymentRequest } from '#libs/contract';
import { now } from '#libs/server';
import { BankHttp } from '../bank-http.js';
import type { Connector, Consented, TppCredentials } from '../connector.js';
import { ukSandboxInstitutions } from '../institutions.js';
import { operation } from '../registry.js';
import { createSigner, type Sign } from './jws.js';
import { connectUkOpenBanking } from './uk-open-banking.connector.js';
import { defaults } from './uk-open-banking.map.js';

/** A bank that answers what a test says, signed as it should be: for answers that no well-behaved bank gives. */
let answers: Record<string, { status: number; body: object }> = {};
let asked: string[] = [];
let sign: Sign;
let publicKey: JWK;
let connector: Connector;
const http = new BankHttp({ report: () => undefined });

const server = createServer((request, response) => {
  const path = (request.url ?? '').replace(/^\/banks\/meridian/, '').replace('/open-banking/v4.0/pisp', '');
  const route = `${request.method} ${path}`;
  asked.push(route);
  void reply(route).then(({ status, body }) => {
    const bytes = Buffer.from(JSON.stringify(body));
    return sign(bytes).then((signature) =>
      response.writeHead(status, { 'content-type': 'application/json', 'x-jws-signature': signature }).end(bytes),
    );
  });
});

async function reply(route: string): Promise<{ status: number; body: object }> {
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/banks/meridian`;
  const token = { access_token: 'client', token_type: 'bearer', expires_in: 600 };
  if (route.endsWith('/openid-configuration'))
    return { status: 200, body: { issuer, token_endpoint: `${issuer}/token` } };
  if (route.endsWith('/token')) return { status: 200, body: token };
  if (route.endsWith('/signing/jwks')) return { status: 200, body: { keys: [publicKey] } };
  return answers[route] ?? { status: 404, body: {} };
}

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const pair = await generateKeyPair('PS256', { extractable: true });
  publicKey = { ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'PS256' };
  const credentials: TppCredentials = {
    clientId: 'tpp',
    organisationId: 'org',
    softwareStatementId: 'ssa',
    redirectUri: 'http://localhost/callback',
    signingKey: await exportJWK(pair.privateKey),
    kid: 'k',
  };
  const institution = ukSandboxInstitutions(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)[0]!;
  const settings = { ...institution.settings, organisationId: 'org/ssa' };
  sign = createSigner(credentials, { settings, now });
  connector = connectUkOpenBanking({ ...institution, settings }, { http, now, credentials });
});
afterAll(async () => {
  await http.close();
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
});
beforeEach(() => {
  asked = [];
});

const payment: PaymentRequest = {
  paymentIdempotencyId: 'p1',
  type: PaymentType.DOMESTIC_PAYMENT,
  amount: { amount: 5, currency: 'GBP' },
  payee: { name: 'Shop', accountIdentifications: [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }] },
};
const { Data, Risk } = defaults.toDomesticConsent(payment, '4.0');
const state = {
  scope: 'payments',
  accessToken: 'psu',
  accessTokenExpiresAt: Infinity,
  payment: { initiation: Data.Initiation, risk: Risk },
};
const call: Consented = {
  psu: {},
  tracingId: 'a'.repeat(32),
  signal: new AbortController().signal,
  grant: { institutionConsentId: 'pdc-1', state },
  keep: async () => undefined,
};
const pay = () => operation(connector, 'CREATE_DOMESTIC_SINGLE_PAYMENT')(call, payment, 'key-1');
const consent = (Status: string) => ({ status: 200, body: { Data: { ConsentId: 'pdc-1', Status } } });
const funds = (FundsAvailable: boolean) => ({
  status: 200,
  body: { Data: { FundsAvailableResult: { FundsAvailable } } },
});
const taken = { status: 201, body: { Data: { DomesticPaymentId: 'dp-1', ConsentId: 'pdc-1', Status: 'RCVD' } } };
const refused = (ErrorCode: string) => ({ status: 400, body: { Errors: [{ ErrorCode, Message: 'No' }] } });
const CONSENT = 'GET /domestic-payment-consents/pdc-1';
const FUNDS = `${CONSENT}/funds-confirmation`;
const ORDER = 'POST /domestic-payments';

describe('a payment sent again because its answer was lost', () => {
  it('is not refused for the money that it took itself', async () => {
    answers = { [FUNDS]: funds(false), [CONSENT]: consent('COND'), [ORDER]: taken };
    await expect(pay()).resolves.toMatchObject({ institutionPaymentId: 'dp-1' });
  });

  it.each(['U009', 'U029', 'U035'])('is never called rejected because the consent is used (%s)', async (code) => {
    answers = { [FUNDS]: refused('U009'), [CONSENT]: consent('COND'), [ORDER]: refused(code) };
    await expect(pay()).rejects.toMatchObject({ kind: 'consent-gone', code });
  });
});

describe('a payment sent for the first time', () => {
  it('is not sent when the bank says that there are no funds', async () => {
    answers = { [FUNDS]: funds(false), [CONSENT]: consent('AUTH'), [ORDER]: taken };
    await expect(pay()).rejects.toMatchObject({ kind: 'rejected', code: 'FUNDS_NOT_AVAILABLE' });
    expect(asked).not.toContain(ORDER);
  });

  it('is sent to a bank that cannot tell', async () => {
    answers = { [ORDER]: taken };
    await expect(pay()).resolves.toMatchObject({ statusDetails: { status: 'PENDING' } });
  });

  it('is rejected when the bank rejects it', async () => {
    answers = { [FUNDS]: funds(true), [CONSENT]: consent('AUTH'), [ORDER]: refused('U002') };
    await expect(pay()).rejects.toMatchObject({ kind: 'rejected', code: 'U002' });
  });

  it('is not believed when the bank answers about another consent', async () => {
    const other = { status: 201, body: { Data: { ...taken.body.Data, ConsentId: 'pdc-2' } } };
    answers = { [FUNDS]: funds(true), [ORDER]: other };
    await expect(pay()).rejects.toMatchObject({ kind: 'malformed' });
  });
});
