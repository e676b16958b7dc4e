import { everything, startForTest, TppAtBank, type TppFixture } from '../tpp.fixture.js';

let fixture: TppFixture;
let tpp: TppAtBank;
beforeAll(async () => {
  fixture = await startForTest();
  tpp = new TppAtBank(fixture, 'meridian');
});
afterAll(() => fixture.close());

type Row = {
  TransactionId: string;
  Status: string;
  CreditDebitIndicator: string;
  BookingDateTime: string;
  Amount: { Amount: string };
  Balance?: object;
  TransactionInformation?: string;
};
type Body = {
  Data: {
    Account: { AccountId: string; Nickname: string; Account?: object[] }[];
    Balance: Record<string, unknown>[];
    Transaction: Row[];
    Status: string;
  };
  Links: { Self: string; Next?: string };
  Errors: { ErrorCode: string; Path?: string }[];
};

async function read(path: string, token: string): Promise<{ status: number; body: Body }> {
  const answer = await tpp.get(path, token);
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Body };
}

async function tokenFor(
  permissions = everything,
  wish: { persona?: string; accounts?: string[] } = {},
  more: object = {},
): Promise<string> {
  return (await tpp.authorise(await tpp.createAccountConsent(permissions, more), 'accounts', wish)).access_token;
}

async function walk(path: string, token: string): Promise<{ rows: Row[]; pages: number }> {
  const rows: Row[] = [];
  let pages = 0;
  for (let next: string | undefined = path; next !== undefined && pages < 100; pages += 1) {
    const { body } = await read(next, token);
    rows.push(...body.Data.Transaction);
    next = body.Links.Next;
  }
  return { rows, pages };
}

describe('transactions', () => {
  let token: string;
  let account: string;
  beforeAll(async () => {
    token = await tokenFor();
    account = (await read('/aisp/accounts', token)).body.Data.Account[0]!.AccountId;
  });

  it('come in linked pages that hold every row once, newest first', async () => {
    const { rows, pages } = await walk(`/aisp/accounts/${account}/transactions`, token);
    const stored = fixture.sandbox.ledger.page(fixture.sandbox.ledger.account(account)!, { limit: 1_000_000 });
    expect(rows.map((row) => row.TransactionId)).toEqual(stored.map((row) => row.id));
    expect(new Set(rows.map((row) => row.TransactionId)).size).toBe(rows.length);
    expect(pages).toBe(Math.ceil(rows.length / 100));
    expect(rows.map((row) => row.BookingDateTime)).toEqual(
      rows.map((row) => row.BookingDateTime).toSorted((one, other) => (one < other ? 1 : -1)),
    );
  });

  it('come account after account in the bulk resource', async () => {
    const { rows } = await walk('/aisp/transactions', token);
    const { ledger } = fixture.sandbox;
    const stored = ledger.accountsOf('meridian', 'ada').flatMap((each) => ledger.page(each, { limit: 1_000_000 }));
    expect(rows.map((row) => row.TransactionId)).toEqual(stored.map((row) => row.id));
  });

  it('keep to the dates asked for, and keep them over pages', async () => {
    const { rows } = await walk(
      `/aisp/accounts/${account}/transactions?fromBookingDateTime=2026-01-01T00:00:00&toBookingDateTime=2026-04-01T00:00:00`,
      token,
    );
    expect(rows.length).toBeGreaterThan(200);
    for (const row of rows) {
      expect(row.BookingDateTime >= '2026-01-01T00:00:00+00:00').toBe(true);
      expect(row.BookingDateTime <= '2026-03-31T23:00:00+00:00').toBe(true);
    }
  });

  it('answer an empty list when nothing lies between the dates, and 400 for a date that is none', async () => {
    const path = `/aisp/accounts/${account}/transactions`;
    expect((await read(`${path}?toBookingDateTime=2001-01-01T00:00:00`, token)).body.Data.Transaction).toEqual([]);
    expect(await read(`${path}?fromBookingDateTime=tomorrow`, token)).toMatchObject({
      status: 400,
      body: { Errors: [{ ErrorCode: 'U002', Path: 'fromBookingDateTime' }] },
    });
    expect((await read(`${path}?page=rubbish`, token)).status).toBe(400);
  });

  it('show detail, direction and dates only as the consent allows', async () => {
    const basic = await tokenFor(
      ['ReadAccountsBasic', 'ReadTransactionsBasic', 'ReadTransactionsCredits'],
      {},
      { TransactionFromDateTime: '2026-06-01T00:00:00+00:00' },
    );
    const { rows } = await walk(`/aisp/accounts/${account}/transactions`, basic);
    expect(rows.length).toBeGreaterThan(3);
    for (const row of rows) {
      expect(row).toMatchObject({ CreditDebitIndicator: 'Credit' });
      expect(row).not.toHaveProperty('TransactionInformation');
      expect(row).not.toHaveProperty('Balance');
      expect(row.BookingDateTime >= '2026-06-01').toBe(true);
    }
    const shown = (await read('/aisp/accounts', basic)).body.Data.Account[0];
    expect(shown).not.toHaveProperty('Account');
  });
});

describe('accounts and balances', () => {
  it('are those the PSU chose, and nobody else’s', async () => {
    const token = await tokenFor(everything, { persona: 'ben', accounts: ['Student'] });
    const { body } = await read('/aisp/accounts', token);
    expect(body.Data.Account).toMatchObject([
      {
        Nickname: 'Student account',
        AccountTypeCode: 'CACC',
        AccountCategory: 'Personal',
        Account: [{ SchemeName: 'UK.OBIE.SortCodeAccountNumber' }, { SchemeName: 'UK.OBIE.IBAN' }],
      },
    ]);
    const others = fixture.sandbox.ledger.accountsOf('meridian', 'ben')[1]!;
    expect(await read(`/aisp/accounts/${others.id}/balances`, token)).toMatchObject({
      status: 400,
      body: { Errors: [{ ErrorCode: 'U011' }] },
    });
  });

  it('agree with the ledger', async () => {
    const token = await tokenFor();
    const { body } = await read('/aisp/balances', token);
    expect(body.Data.Balance).toHaveLength(12);
    const card = fixture.sandbox.ledger.accountsOf('meridian', 'ada')[2]!;
    const booked = body.Data.Balance.find((each) => each['AccountId'] === card.id && each['Type'] === 'ITBD');
    expect(booked).toMatchObject({
      CreditDebitIndicator: card.balanceMinor < 0 ? 'Debit' : 'Credit',
      Amount: { Amount: (Math.abs(card.balanceMinor) / 100).toFixed(2), Currency: 'GBP' },
    });
  });

  it('need their permission', async () => {
    const token = await tokenFor(['ReadAccountsBasic']);
    expect((await read('/aisp/balances', token)).status).toBe(403);
    expect((await read('/aisp/transactions', token)).status).toBe(403);
  });
});

describe('account access consents', () => {
  it.each([
    [[], 'Data.Permissions'],
    [['ReadBalances'], 'Data.Permissions'],
    [['ReadAccountsBasic', 'ReadTransactionsBasic'], 'Data.Permissions'],
    [['ReadAccountsBasic', 'ReadTransactionsCredits'], 'Data.Permissions'],
    [['ReadAccountsBasic', 'ReadMinds'], 'Data.Permissions[1]'],
  ])('are refused for %j', async (permissions, path) => {
    const answer = await tpp.post('/aisp/account-access-consents', await tpp.clientToken('accounts'), {
      Data: { Permissions: permissions },
      Risk: {},
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ Errors: [{ ErrorCode: 'U002', Path: path }] });
  });

  it('go from AWAU to AUTH, and are gone with their tokens when deleted', async () => {
    const client = await tpp.clientToken('accounts');
    const id = await tpp.createAccountConsent();
    const path = `/aisp/account-access-consents/${id}`;
    expect((await read(path, client)).body.Data.Status).toBe('AWAU');
    const { access_token } = await tpp.authorise(id, 'accounts');
    expect((await read(path, client)).body.Data.Status).toBe('AUTH');
    const removed = await fixture.fetch(`${tpp.api}${path}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${client}` },
    });
    expect(removed.status).toBe(204);
    expect(await read(path, client)).toMatchObject({ status: 400, body: { Errors: [{ ErrorCode: 'U011' }] } });
    expect((await read('/aisp/accounts', access_token)).status).toBe(401);
  });

  it('become RJCT when the PSU denies, and tell the TPP so', async () => {
    const id = await tpp.createAccountConsent();
    const { url } = await tpp.authorisationUrl(id, 'accounts');
    const back = await tpp.visit(url, { decision: 'deny' });
    expect(new URLSearchParams(back.hash.slice(1)).get('error')).toBe('access_denied');
    expect(
      (await read(`/aisp/account-access-consents/${id}`, await tpp.clientToken('accounts'))).body.Data.Status,
    ).toBe('RJCT');
  });

  it('expire by the bank’s clock', async () => {
    const later = new Date(fixture.sandbox.clock.now() + 3_600_000).toISOString();
    const id = await tpp.createAccountConsent(everything, { ExpirationDateTime: later });
    const { access_token } = await tpp.authorise(id, 'accounts');
    await tpp.control('clock', { advance: 'PT1H5M' });
    expect(
      (await read(`/aisp/account-access-consents/${id}`, await tpp.clientToken('accounts'))).body.Data.Status,
    ).toBe('EXPD');
    expect([401, 403]).toContain((await read('/aisp/accounts', access_token)).status);
  });

  it('end when the PSU withdraws them at the bank, and come back with a new authorisation', async () => {
    const id = await tpp.createAccountConsent();
    const { access_token } = await tpp.authorise(id, 'accounts');
    expect((await tpp.control('withdraw', { bank: 'meridian', consentId: id })).status).toBe(200);
    expect(await read('/aisp/accounts', access_token)).toMatchObject({
      status: 403,
      body: { Errors: [{ ErrorCode: 'U028' }] },
    });
    expect(
      (await read(`/aisp/account-access-consents/${id}`, await tpp.clientToken('accounts'))).body.Data.Status,
    ).toBe('CANC');
    expect((await tpp.control('withdraw', { bank: 'meridian', consentId: id })).status).toBe(400);
    const again = await tpp.authorise(id, 'accounts');
    expect((await read('/aisp/accounts', again.access_token)).status).toBe(200);
  });

  it('take the token that the standard names for each call', async () => {
    const client = await tpp.clientToken('accounts');
    expect((await read('/aisp/accounts', client)).status).toBe(403);
    expect((await read('/aisp/accounts', 'nonsense')).status).toBe(401);
    expect((await read('/aisp/accounts', '')).status).toBe(401);
    const psu = await tokenFor();
    expect(
      (await tpp.post('/aisp/account-access-consents', psu, { Data: { Permissions: everything }, Risk: {} })).status,
    ).toBe(403);
    expect(
      (
        await tpp.post('/aisp/account-access-consents', await tpp.clientToken('payments'), {
          Data: { Permissions: everything },
          Risk: {},
        })
      ).status,
    ).toBe(403);
  });

  it('play back the interaction id, and refuse what is not JSON', async () => {
    const client = await tpp.clientToken('accounts');
    const answer = await tpp.get('/aisp/account-access-consents/none', client, {
      'x-fapi-interaction-id': '93bac548-d2de-4546-b106-880a5018460d',
    });
    expect(answer.headers.get('x-fapi-interaction-id')).toBe('93bac548-d2de-4546-b106-880a5018460d');
    const headers = { authorization: `Bearer ${client}` };
    const post = (body: string, type: string): Promise<Response> =>
      fixture.fetch(`${tpp.api}/aisp/account-access-consents`, {
        method: 'POST',
        body,
        headers: { ...headers, 'content-type': type },
      });
    expect((await post('<a/>', 'application/xml')).status).toBe(415);
    expect((await post('{"Data":', 'application/json')).status).toBe(400);
    expect((await fixture.fetch(`${tpp.api}/aisp/accounts`, { method: 'PUT', headers })).status).toBe(405);
    expect((await fixture.fetch(`${tpp.api}/aisp/offers`, { headers })).status).toBe(404);
  });
});
