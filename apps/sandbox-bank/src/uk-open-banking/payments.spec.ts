import { compactVerify, createRemoteJWKSet } from 'jose';
import { startForTest, TppAtBank, type TppFixture } from '../tpp.fixture.js';

let fixture: TppFixture;
let tpp: TppAtBank;
beforeAll(async () => {
  fixture = await startForTest();
  tpp = new TppAtBank(fixture, 'meridian');
});
afterAll(() => fixture.close());

type Answer = {
  Data: Record<string, unknown> & { ConsentId: string; DomesticPaymentId: string; Status: string };
  Errors?: { ErrorCode: string; Path?: string }[];
};

const initiation = (amount = '12.50'): Record<string, unknown> => ({
  InstructionIdentification: 'INSTR-1',
  EndToEndIdentification: 'E2E-1',
  InstructedAmount: { Amount: amount, Currency: 'GBP' },
  CreditorAccount: {
    SchemeName: 'UK.OBIE.SortCodeAccountNumber',
    Identification: '00099912345678',
    Name: 'Foxtail Books',
  },
  RemittanceInformation: { Unstructured: ['ORDER 7'] },
});
const consentBody = (amount?: string): object => ({
  Data: { Initiation: initiation(amount) },
  Risk: { PaymentContextCode: 'EcommerceMerchantInitiatedPayment' },
});
let keys = 0;
const newKey = (): string => `key-${(keys += 1)}`;

async function send(
  path: string,
  token: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Answer; raw: Response; text: string }> {
  const signature = await tpp.sign(JSON.stringify(body));
  const raw = await tpp.post(path, token, body, {
    'x-idempotency-key': newKey(),
    'x-jws-signature': signature,
    ...headers,
  });
  const text = await raw.text();
  return { status: raw.status, raw, text, body: (text === '' ? {} : JSON.parse(text)) as Answer };
}

async function consentOf(amount?: string): Promise<string> {
  const made = await send('/pisp/domestic-payment-consents', await tpp.clientToken('payments'), consentBody(amount));
  expect(made.status).toBe(201);
  return made.body.Data.ConsentId;
}

const order = (consentId: string, amount?: string): object => ({
  ...consentBody(amount),
  Data: { ConsentId: consentId, Initiation: initiation(amount) },
});

async function authorised(amount?: string): Promise<{ consentId: string; token: string }> {
  const consentId = await consentOf(amount);
  const { access_token: token } = await tpp.authorise(consentId, 'payments', { accounts: ['Everyday'] });
  return { consentId, token };
}

async function read(path: string): Promise<Answer> {
  return (await (await tpp.get(path, await tpp.clientToken('payments'))).json()) as Answer;
}

async function everyday(): Promise<{ bookedMinor: number; availableMinor: number; transactions: number }> {
  const answer = await fetch(`${fixture.sandbox.url}/control/state`);
  const state = (await answer.json()) as {
    banks: { personas: { accounts: { bookedMinor: number; availableMinor: number; transactions: number }[] }[] }[];
  };
  return state.banks[0]!.personas[0]!.accounts[0]!;
}

it('takes a payment to its end and books it on the payer’s account', async () => {
  const before = await everyday();
  const { consentId, token } = await authorised();
  const made = await send('/pisp/domestic-payments', token, order(consentId));
  expect(made).toMatchObject({
    status: 201,
    body: { Data: { Status: 'RCVD', ConsentId: consentId, Debtor: { Name: 'Ada Thornbury' } } },
  });
  expect((await everyday()).availableMinor).toBe(before.availableMinor - 1250);
  const path = `/pisp/domestic-payments/${made.body.Data.DomesticPaymentId}`;
  const statuses = [(await read(path)).Data.Status, (await read(path)).Data.Status, (await read(path)).Data.Status];
  expect(statuses).toEqual(['ACSP', 'ACSC', 'ACCC']);
  const after = await everyday();
  expect(after).toMatchObject({
    bookedMinor: before.bookedMinor - 1250,
    availableMinor: before.availableMinor - 1250,
    transactions: before.transactions + 1,
  });
  expect((await read(`/pisp/domestic-payment-consents/${consentId}`)).Data.Status).toBe('COND');
  expect((await read(`${path}/payment-details`)).Data['PaymentStatus']).toMatchObject([{ Status: 'ACCC' }]);
});

it('settles by the bank’s clock when nobody asks', async () => {
  const before = await everyday();
  const { consentId, token } = await authorised();
  await send('/pisp/domestic-payments', token, order(consentId));
  await tpp.control('clock', { advance: 'PT5S' });
  const accountConsent = await tpp.createAccountConsent();
  const { access_token } = await tpp.authorise(accountConsent, 'accounts');
  await tpp.get('/aisp/accounts', access_token);
  expect((await everyday()).bookedMinor).toBe(before.bookedMinor - 1250);
});

it('credits a payee who banks here', async () => {
  const ben = fixture.sandbox.ledger.accountsOf('tamar', 'ben')[0]!;
  const request = {
    Data: {
      Initiation: {
        ...initiation(),
        CreditorAccount: { SchemeName: 'UK.OBIE.IBAN', Identification: ben.iban, Name: 'Ben' },
      },
    },
    Risk: {},
  };
  const made = await send('/pisp/domestic-payment-consents', await tpp.clientToken('payments'), request);
  const { access_token } = await tpp.authorise(made.body.Data.ConsentId, 'payments');
  await send('/pisp/domestic-payments', access_token, {
    Data: { ConsentId: made.body.Data.ConsentId, ...request.Data },
    Risk: {},
  });
  await tpp.control('clock', { advance: 'PT5S' });
  await tpp.createAccountConsent();
  const { access_token: data } = await tpp.authorise(await tpp.createAccountConsent(), 'accounts');
  await tpp.get('/aisp/balances', data);
  expect(fixture.sandbox.ledger.account(ben.id)?.balanceMinor).toBe(ben.balanceMinor + 1250);
});

it('refuses a second order on a spent consent, and two at once', async () => {
  const { consentId, token } = await authorised();
  const both = await Promise.all([
    send('/pisp/domestic-payments', token, order(consentId)),
    send('/pisp/domestic-payments', token, order(consentId)),
  ]);
  expect(both.map((each) => each.status).toSorted((one, other) => one - other)).toEqual([201, 400]);
  const third = await send('/pisp/domestic-payments', token, order(consentId));
  expect(third).toMatchObject({ status: 400, body: { Errors: [{ ErrorCode: 'U009' }] } });
});

it('answers the same key and body with the first payment, and refuses the key with another body', async () => {
  const { consentId, token } = await authorised();
  const key = { 'x-idempotency-key': 'once' };
  const first = await send('/pisp/domestic-payments', token, order(consentId), key);
  const again = await send('/pisp/domestic-payments', token, order(consentId), key);
  expect(again).toMatchObject({
    status: 201,
    body: { Data: { DomesticPaymentId: first.body.Data.DomesticPaymentId } },
  });
  const other = await send('/pisp/domestic-payments', token, order(consentId, '99.00'), key);
  expect(other).toMatchObject({ status: 422, body: { Errors: [{ Path: 'x-idempotency-key' }] } });
});

it('forgets an idempotency key after 24 hours of the bank’s clock', async () => {
  const key = { 'x-idempotency-key': 'daily' };
  const first = await send('/pisp/domestic-payment-consents', await tpp.clientToken('payments'), consentBody(), key);
  await tpp.control('clock', { advance: 'P1D' });
  const later = await send('/pisp/domestic-payment-consents', await tpp.clientToken('payments'), consentBody(), key);
  expect(later.body.Data.ConsentId).not.toBe(first.body.Data.ConsentId);
});

it('refuses an order that differs from its consent', async () => {
  const { consentId, token } = await authorised();
  expect(await send('/pisp/domestic-payments', token, order(consentId, '13.50'))).toMatchObject({
    status: 400,
    body: { Errors: [{ ErrorCode: 'U008', Path: 'Data.Initiation' }] },
  });
  const otherRisk = { ...order(consentId), Risk: {} };
  expect(await send('/pisp/domestic-payments', token, otherRisk)).toMatchObject({
    status: 400,
    body: { Errors: [{ ErrorCode: 'U008', Path: 'Risk' }] },
  });
});

it.each([
  ['Data.Initiation.CreditorAccount', 'U004', { CreditorAccount: undefined }],
  ['Data.Initiation.EndToEndIdentification', 'U002', { EndToEndIdentification: 'x'.repeat(36) }],
  ['Data.Initiation.InstructedAmount.Amount', 'U002', { InstructedAmount: { Amount: '1.999', Currency: 'GBP' } }],
  ['Data.Initiation.InstructedAmount.Currency', 'U023', { InstructedAmount: { Amount: '1.00', Currency: 'USD' } }],
  [
    'Data.Initiation.CreditorAccount.SchemeName',
    'U027',
    { CreditorAccount: { SchemeName: 'US.ABA', Identification: '1', Name: 'X' } },
  ],
  [
    'Data.Initiation.CreditorAccount.Identification',
    'U021',
    { CreditorAccount: { SchemeName: 'UK.OBIE.IBAN', Identification: 'GB00MRDS00012112345678', Name: 'X' } },
  ],
  [
    'Data.Initiation.RemittanceInformation.Unstructured',
    'U002',
    { RemittanceInformation: { Unstructured: 'as in v3' } },
  ],
  ['Data.Initiation.Surprise', 'U005', { Surprise: 1 }],
])('names %s with %s', async (path, code, change) => {
  const body = { Data: { Initiation: { ...initiation(), ...change } }, Risk: {} };
  const answer = await send('/pisp/domestic-payment-consents', await tpp.clientToken('payments'), body);
  expect(answer).toMatchObject({ status: 400, body: { Errors: [{ ErrorCode: code, Path: path }] } });
});

async function funds(consentId: string, token: string): Promise<unknown> {
  const answer = await tpp.get(`/pisp/domestic-payment-consents/${consentId}/funds-confirmation`, token);
  return ((await answer.json()) as Answer).Data['FundsAvailableResult'];
}

it('says whether funds are there, and rejects an order they do not cover', async () => {
  const rich = await authorised('10.00');
  expect(await funds(rich.consentId, rich.token)).toMatchObject({ FundsAvailable: true });
  const poor = await authorised('999999.00');
  expect(await funds(poor.consentId, poor.token)).toMatchObject({ FundsAvailable: false });
  const made = await send('/pisp/domestic-payments', poor.token, order(poor.consentId, '999999.00'));
  expect(made.body.Data).toMatchObject({ Status: 'RJCT', StatusReason: [{ StatusReasonCode: 'AM04' }] });
});

it.each([
  ['payment-reject', 'RJCT'],
  ['payment-pending', 'PDNG'],
])('plays %s', async (fault, end) => {
  const { consentId, token } = await authorised();
  await tpp.control('faults', { bank: 'meridian', route: 'POST /pisp/domestic-payments', fault, times: 1 });
  const made = await send('/pisp/domestic-payments', token, order(consentId));
  expect(made.status).toBe(201);
  await tpp.control('clock', { advance: 'PT1M' });
  expect((await read(`/pisp/domestic-payments/${made.body.Data.DomesticPaymentId}`)).Data.Status).toBe(end);
});

async function verify(answer: Response, sent: string): Promise<Record<string, unknown>> {
  const keySet = createRemoteJWKSet(new URL(`${tpp.issuer}/signing/jwks`));
  const detached = answer.headers.get('x-jws-signature') ?? '';
  const names = ['http://openbanking.org.uk/iat', 'http://openbanking.org.uk/iss', 'http://openbanking.org.uk/tan'];
  const compact = detached.replace('..', `.${Buffer.from(sent).toString('base64url')}.`);
  const { protectedHeader } = await compactVerify(compact, keySet, {
    crit: Object.fromEntries(names.map((name) => [name, true])),
  });
  return protectedHeader;
}

describe('message signatures', () => {
  const body = consentBody();
  const attempt = async (signature: string | undefined): Promise<Answer['Errors']> => {
    const headers = { 'x-idempotency-key': newKey(), ...(signature !== undefined && { 'x-jws-signature': signature }) };
    const answer = await tpp.post('/pisp/domestic-payment-consents', await tpp.clientToken('payments'), body, headers);
    expect(answer.status).toBe(400);
    return ((await answer.json()) as Answer).Errors;
  };
  const text = JSON.stringify(body);

  it('refuses what is missing, malformed or signed over another body', async () => {
    expect(await attempt(undefined)).toMatchObject([{ ErrorCode: 'U019' }]);
    expect(await attempt('a.b.c')).toMatchObject([{ ErrorCode: 'U018' }]);
    expect(await attempt(await tpp.sign(`${text} `))).toMatchObject([{ ErrorCode: 'U015' }]);
  });

  it.each([
    ['iss', { 'http://openbanking.org.uk/iss': 'org-7/other' }],
    ['tan', { 'http://openbanking.org.uk/tan': 'example.org' }],
    ['iat', { 'http://openbanking.org.uk/iat': 4_000_000_000 }],
    ['kid', { kid: 'nobody' }],
    ['typ', { typ: 'JWT' }],
    ['crit', { crit: ['http://openbanking.org.uk/iat'] }],
  ])('refuses a wrong %s', async (name, change) => {
    expect(await attempt(await tpp.sign(text, change))).toMatchObject([
      { ErrorCode: 'U016', Path: expect.stringContaining(name) as string },
    ]);
  });

  it('signs every answer with a body, errors too', async () => {
    const made = await send('/pisp/domestic-payment-consents', await tpp.clientToken('payments'), body);
    expect(await verify(made.raw, made.text)).toMatchObject({
      alg: 'PS256',
      'http://openbanking.org.uk/iss': '0015800001MERIDIAN',
    });
    const refused = await send('/pisp/domestic-payment-consents', await tpp.clientToken('payments'), {
      Data: {},
      Risk: {},
    });
    expect(refused.status).toBe(400);
    await verify(refused.raw, refused.text);
  });

  it('signs wrongly when told so', async () => {
    await tpp.control('faults', { bank: 'meridian', fault: 'wrong-signature', times: 1 });
    const made = await send('/pisp/domestic-payment-consents', await tpp.clientToken('payments'), body);
    await expect(verify(made.raw, made.text)).rejects.toThrow(/signature/);
  });
});
