import { everything, startForTest, TppAtBank, type TppFixture } from '../tpp.fixture.js';

let fixture: TppFixture;
let tpp: TppAtBank;
beforeAll(async () => {
  fixture = await startForTest();
  tpp = new TppAtBank(fixture, 'thistle');
});
afterAll(() => fixture.close());

type Body = {
  Data: Record<string, unknown> & { ConsentId: string; Status: string; DomesticPaymentId: string };
  Errors: { ErrorCode: string; Path?: string }[];
  Links: { Self: string };
};
const read = async (path: string, token: string): Promise<Body> => (await (await tpp.get(path, token)).json()) as Body;
const more = [
  ...everything,
  'ReadStandingOrdersDetail',
  'ReadDirectDebits',
  'ReadParty',
  'ReadStatementsDetail',
  'ReadBeneficiariesDetail',
];
const account = (): string => fixture.sandbox.ledger.accountsOf('thistle', 'ada')[0]!.id;

describe('a bank of v3.1', () => {
  it('says words where v4.0 has codes', async () => {
    const consentId = await tpp.createAccountConsent(more);
    const path = `/aisp/account-access-consents/${consentId}`;
    const before = await read(path, await tpp.clientToken('accounts'));
    expect(before.Data.Status).toBe('AwaitingAuthorisation');
    expect(before.Links.Self).toContain('/open-banking/v3.1/aisp/account-access-consents/');
    const { access_token: token } = await tpp.authorise(consentId, 'accounts');
    expect((await read(path, await tpp.clientToken('accounts'))).Data).toMatchObject({
      Status: 'Authorised',
      Permissions: more,
    });
    const accounts = await read('/aisp/accounts', token);
    expect(accounts.Data['Account']).toMatchObject([
      { AccountType: 'Personal', AccountSubType: 'CurrentAccount' },
      { AccountSubType: 'Savings' },
      { AccountSubType: 'CreditCard' },
      { AccountSubType: 'CurrentAccount' },
    ]);
    expect(JSON.stringify(accounts)).not.toContain('AccountTypeCode');
    const balances = await read(`/aisp/accounts/${account()}/balances`, token);
    expect(balances.Data['Balance']).toMatchObject([
      { Type: 'InterimAvailable' },
      { Type: 'InterimBooked' },
      { Type: 'ClosingBooked' },
    ]);
    const rows = (await read(`/aisp/accounts/${account()}/transactions`, token)).Data['Transaction'] as {
      Status: string;
      BankTransactionCode: { Code: string; SubCode: string };
    }[];
    expect(new Set(rows.map((row) => row.Status))).toEqual(new Set(['Booked', 'Pending']));
    for (const { BankTransactionCode } of rows) {
      expect(BankTransactionCode.Code).toMatch(/^[A-Z][a-z]+[A-Za-z]+$/);
      expect(BankTransactionCode.SubCode).toMatch(/[a-z]/);
    }
  });

  it('writes frequencies, references and addresses in its own way', async () => {
    const { access_token: token } = await tpp.authorise(await tpp.createAccountConsent(more), 'accounts');
    const below = async (resource: string): Promise<unknown> =>
      Object.values((await read(`/aisp/accounts/${account()}/${resource}`, token)).Data)[0];
    const [order] = (await below('standing-orders')) as object[];
    expect(order).toMatchObject({ Frequency: 'IntrvlMnthDay:01:01', StandingOrderStatusCode: 'Active' });
    expect(order).toHaveProperty('Reference');
    expect(order).not.toHaveProperty('MandateRelatedInformation');
    const [debit] = (await below('direct-debits')) as object[];
    expect(debit).toMatchObject({ Frequency: 'UK.OBIE.Monthly', DirectDebitStatusCode: 'Active' });
    expect(debit).toHaveProperty('MandateIdentification');
    expect(await below('party')).toMatchObject({ Address: [{ AddressType: 'Residential' }] });
    expect(await below('statements')).toHaveLength(24);
  });

  it('has v3.1 error codes, on the wire as well', async () => {
    const answer = await tpp.post('/aisp/account-access-consents', await tpp.clientToken('accounts'), {
      Data: {},
      Risk: {},
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      Errors: [{ ErrorCode: 'UK.OBIE.Field.Missing', Path: 'Data.Permissions' }],
    });
    const unknown = await read('/aisp/account-access-consents/none', await tpp.clientToken('accounts'));
    expect(unknown.Errors[0]!.ErrorCode).toBe('UK.OBIE.Resource.NotFound');
    await tpp.control('faults', { bank: 'thistle', route: 'GET /aisp/accounts', fault: '403', times: 1 });
    expect((await read('/aisp/accounts', 'any')).Errors[0]!.ErrorCode).toBe('UK.OBIE.Reauthenticate');
  });

  it('lets the token die when the PSU takes access back, and the consent stand', async () => {
    const consentId = await tpp.createAccountConsent();
    const { access_token: token } = await tpp.authorise(consentId, 'accounts');
    await tpp.control('withdraw', { bank: 'thistle', consentId });
    expect((await tpp.get('/aisp/accounts', token)).status).toBe(401);
    const { Data } = await read(`/aisp/account-access-consents/${consentId}`, await tpp.clientToken('accounts'));
    expect(Data.Status).toBe('Authorised');
    expect(Data).not.toHaveProperty('StatusReason');
  });

  it('takes a payment with a plain reference and tells its course in words', async () => {
    const initiation = {
      InstructionIdentification: 'INSTR-1',
      EndToEndIdentification: 'E2E-1',
      InstructedAmount: { Amount: '12.50', Currency: 'GBP' },
      CreditorAccount: {
        SchemeName: 'UK.OBIE.SortCodeAccountNumber',
        Identification: '00099912345678',
        Name: 'Foxtail',
      },
      RemittanceInformation: { Unstructured: 'Books', Reference: 'ORDER 7' },
    };
    const risk = { PaymentContextCode: 'EcommerceGoods', ContractPresentInidicator: true };
    let keys = 0;
    const send = async (path: string, token: string, body: object): Promise<{ status: number; body: Body }> => {
      const headers = {
        'x-idempotency-key': `k-${(keys += 1)}`,
        'x-jws-signature': await tpp.sign(JSON.stringify(body)),
      };
      const answer = await tpp.post(path, token, body, headers);
      return { status: answer.status, body: (await answer.json()) as Body };
    };
    const asTpp = await tpp.clientToken('payments');
    const structured = { ...initiation, RemittanceInformation: { Unstructured: ['Books'] } };
    const refused = await send('/pisp/domestic-payment-consents', asTpp, {
      Data: { Initiation: structured },
      Risk: risk,
    });
    expect(refused.body.Errors[0]!.ErrorCode).toBe('UK.OBIE.Field.Invalid');
    const made = await send('/pisp/domestic-payment-consents', asTpp, { Data: { Initiation: initiation }, Risk: risk });
    expect(made.body.Data).toMatchObject({ Status: 'AwaitingAuthorisation', Initiation: initiation });
    const { ConsentId } = made.body.Data;
    const { access_token: token } = await tpp.authorise(ConsentId, 'payments', { accounts: ['Everyday'] });
    const order = await send('/pisp/domestic-payments', token, {
      Data: { ConsentId, Initiation: initiation },
      Risk: risk,
    });
    expect([order.status, order.body.Data.Status]).toEqual([201, 'Pending']);
    const look = async (): Promise<string> =>
      (await read(`/pisp/domestic-payments/${order.body.Data.DomesticPaymentId}`, asTpp)).Data.Status;
    expect([await look(), await look(), await look()]).toEqual([
      'AcceptedSettlementInProcess',
      'AcceptedSettlementCompleted',
      'AcceptedCreditSettlementCompleted',
    ]);
    expect((await read(`/pisp/domestic-payment-consents/${ConsentId}`, asTpp)).Data.Status).toBe('Consumed');
    const { ledger } = fixture.sandbox;
    expect(ledger.latest(ledger.account(account())!, 'FASTER PAYMENT TO FOXTAIL')?.detail).toContain('ORDER 7');
  });
});
