import { readFileSync } from 'node:fs';
import type { AccountAccess } from '../connector.js';
import { berlinGroupSandboxInstitutions } from '../berlin-group-institutions.js';
import { defaults as map } from './berlin-group.map.js';
import type {
  AccountList,
  ReadAccountBalanceResponse,
  TransactionDetails,
  TransactionsResponse,
} from './berlin-group.types.js';
import { toPage, toPageRequest } from './pages.js';

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));
const accounts = ((fixture('accounts') as AccountList).accounts ?? []).map((each) => map.toAccount(each));
const report = fixture('transactions') as TransactionsResponse;
const row = (index: number, changes: Partial<TransactionDetails> = {}) =>
  map.toTransaction({ ...report.transactions!.booked![index]!, ...changes }, 'booked');
const malformed = expect.objectContaining({ kind: 'malformed' });
const institution = berlinGroupSandboxInstitutions('https://bank.example')[0]!;
const now = new Date('2026-11-21T10:00:00Z');

describe('an account', () => {
  it('shows who owns it, what it is called, and its identifications', () => {
    expect(accounts[0]).toEqual({
      id: '3dc3d5b3-7023-4848-9853-f5400a64e80f',
      type: 'Girokonto',
      description: 'Main Account',
      currency: 'EUR',
      usageType: 'PERSONAL',
      accountType: 'CURRENT',
      nickname: 'Haushalt',
      details: 'With an overdraft',
      accountNames: [{ name: 'Heike Mustermann' }],
      accountIdentifications: [
        { type: 'IBAN', identification: 'DE2310010010123456789' },
        { type: 'BIC', identification: 'AAAADEBBXXX' },
      ],
    });
  });

  it('of several currencies has none, and an unknown kind is unknown', () => {
    expect(accounts[1]).toEqual({
      id: 'card-1',
      type: 'ZZZZ',
      usageType: 'BUSINESS',
      accountType: 'UNKNOWN',
      accountIdentifications: [{ type: 'MASKED_PAN', identification: '525412******3241' }],
    });
  });

  it('without an id cannot be read', () => {
    expect(() => map.toAccount({ resourceId: ' ', currency: 'EUR' })).toThrow(malformed);
  });
});

describe('balances', () => {
  const { balances: raw = [] } = fixture('balances') as ReadAccountBalanceResponse;

  it('are all shown with the bank’s signs and types; the headline is the first of the documented order', () => {
    expect(map.toBalances(raw)).toEqual({
      mainBalanceAmount: { amount: -900.5, currency: 'EUR' },
      balances: [
        {
          type: 'CLOSING_BOOKED',
          dateTime: '2017-10-25T00:00:00.000Z',
          balanceAmount: { amount: 500, currency: 'EUR' },
        },
        {
          type: 'EXPECTED',
          dateTime: '2017-10-25T13:30:35.035Z',
          balanceAmount: { amount: -900.5, currency: 'EUR' },
          creditLineIncluded: true,
        },
        { type: 'OTHER', balanceAmount: { amount: 0, currency: 'EUR' } },
        { type: 'UNKNOWN', balanceAmount: { amount: 1, currency: 'EUR' } },
      ],
    });
  });

  it('that are no list are malformed, not none', () => expect(() => map.toBalances(undefined)).toThrow(malformed));
  it.each([
    ['no amount', { balanceType: 'expected' }],
    ['no number', { balanceType: 'expected', balanceAmount: { amount: 'NaN', currency: 'EUR' } }],
    ['no currency', { balanceType: 'expected', balanceAmount: { amount: '1.00' } }],
  ])('with %s are malformed, not zero, and left out beside others', (_what, broken) => {
    expect(() => map.toBalances([broken])).toThrow(malformed);
    const good = { balanceType: 'closingBooked', balanceAmount: { amount: '1.00', currency: 'EUR' } };
    expect(map.toBalances([broken, good])).toEqual(map.toBalances([good]));
  });
});

describe('a transaction', () => {
  it('carries everything the bank said', () => {
    expect(row(0)).toEqual({
      id: '1234567',
      date: '2017-10-25T00:00:00.000Z',
      bookingDateTime: '2017-10-25T00:00:00.000Z',
      valueDateTime: '2017-10-26T00:00:00.000Z',
      status: 'BOOKED',
      amount: -256.67,
      currency: 'EUR',
      transactionAmount: { amount: -256.67, currency: 'EUR' },
      currencyExchange: { sourceCurrency: 'USD', targetCurrency: 'EUR', unitCurrency: 'EUR', exchangeRate: 1.0864 },
      reference: 'INV-7',
      description: 'Example 1',
      transactionInformation: ['Example 1'],
      isoBankTransactionCode: {
        domainCode: { code: 'PMNT', name: 'Payments' },
        familyCode: { code: 'RDDT', name: 'ReceivedDirectDebits' },
        subFamilyCode: { code: 'ESDD', name: 'SepaCoreDirectDebit' },
      },
      proprietaryBankTransactionCode: { code: '105' },
      balance: { type: 'INTERIM_BOOKED', balanceAmount: { amount: 743.33, currency: 'EUR' } },
      payeeDetails: {
        name: 'John Miles',
        accountIdentifications: [
          { type: 'IBAN', identification: 'DE67100100101306118605' },
          { type: 'BIC', identification: 'AAAADEBBXXX' },
        ],
      },
      supplementaryData: {
        mandateId: 'Mandate-2018-04-20-1234',
        creditorId: 'DE98ZZZ09999999999',
        purposeCode: 'GDDS',
        additionalInformation: 'Filiale 7',
      },
      transactionMutability: 'Immutable',
    });
  });

  it('has neither id nor reference where the bank gave blanks and placeholders', () => {
    const transaction = row(1);
    expect(transaction).not.toHaveProperty('id');
    expect(transaction).toMatchObject({
      reference: 'RF18539007547034',
      date: '2017-10-26T00:00:00.000Z',
      description: 'Rent October',
      transactionInformation: ['Rent', 'October'],
      payerDetails: {
        name: 'Paul Simpson',
        accountIdentifications: [{ type: 'BBAN', identification: 'BARC12345612345678' }],
      },
    });
    expect(transaction).not.toHaveProperty('bookingDateTime');
  });

  it('may be an amount alone, and takes the entry’s reference as its id', () => {
    expect(row(2)).toEqual({
      id: 'E-9',
      status: 'BOOKED',
      amount: 0,
      currency: 'JPY',
      transactionAmount: { amount: 0, currency: 'JPY' },
      transactionMutability: 'Immutable',
    });
  });

  it.each([
    ['0.1', 0.1],
    ['-1234567890.123', -1234567890.123],
    ['00010.50', 10.5],
    ['-0.00', 0],
  ])('reads the amount %s exactly', (amount, expected) => {
    expect(row(0, { transactionAmount: { amount, currency: 'EUR' } }).amount).toBe(expected);
  });

  it.each<[string, Partial<TransactionDetails>]>([
    ['amount', { transactionAmount: { amount: '1e3', currency: 'EUR' } }],
    ['amount beyond exactness', { transactionAmount: { amount: '12345678901234567.123', currency: 'EUR' } }],
    ['day of the calendar', { bookingDate: '2026-02-30' }],
  ])('without a readable %s is malformed', (_what, changes) => {
    expect(() => row(0, changes)).toThrow(malformed);
  });
});

describe('a page', () => {
  const base = new URL('https://bank.example/banks/lindenhof/v1/accounts/a-1/transactions');
  const request = (range = {}, changes = {}) =>
    toPageRequest(base, { range, institution: { ...institution, ...changes }, now });
  const linked = (next: string) =>
    toPage({ transactions: { booked: [], _links: { next: { href: next } } } }, { request: request(), map });

  it('holds pending and booked entries, no standing orders', () => {
    const { items } = toPage(report, { request: request(), map });
    expect(items.map(({ status }) => status)).toEqual(['PENDING', 'BOOKED', 'BOOKED', 'BOOKED']);
    expect(items[0]).toMatchObject({ description: 'Example 3', transactionMutability: 'Mutable' });
  });

  it('asks for whole days, and for the usual history without a start', () => {
    const from = new Date('2026-04-05T10:00:00Z');
    expect(request({ from, before: new Date('2026-04-06T00:00:00Z') }).url.search).toBe(
      '?bookingStatus=both&dateFrom=2026-04-05&dateTo=2026-04-06',
    );
    expect(request().url.search).toBe('?bookingStatus=both&dateFrom=2024-11-21');
  });

  it('is cut into the spans that a bank allows, without a gap or an overlap', () => {
    const range = { from: new Date('2026-01-01T00:00:00Z'), before: new Date('2026-01-25T00:00:00Z') };
    const queries: string[] = [];
    for (let cursor: string | undefined, turn = 0; turn < 5; turn += 1) {
      const slice = request({ ...range, ...(cursor ? { cursor } : {}) }, { transactionsSpanDays: 10 });
      queries.push(slice.url.search.replace('?bookingStatus=both&', ''));
      cursor = toPage({ transactions: { booked: [] } }, { request: slice, map }).next;
      if (cursor === undefined) break;
    }
    expect(queries).toEqual([
      'dateFrom=2026-01-01&dateTo=2026-01-10',
      'dateFrom=2026-01-11&dateTo=2026-01-20',
      'dateFrom=2026-01-21&dateTo=2026-01-25',
    ]);
  });

  it.each(['?page=2', '/v1/accounts/a-1/transactions?page=2', `${base.href}?page=2`])('is followed by %s', (next) => {
    const { next: cursor } = linked(next);
    expect(request({ cursor }).url.href).toBe(`${base.href}?page=2`);
  });

  it.each(['https://elsewhere.example/x', '/v1/accounts/a-2/transactions?page=2', 'null/v1/x'])(
    'that leads away (%s) is malformed',
    (next) => {
      expect(() => linked(next)).toThrow(malformed);
    },
  );

  it.each([{}, { _links: { download: { href: '/file' } } }])('that is no list (%j) is malformed', (raw) => {
    expect(() => toPage(raw, { request: request(), map })).toThrow(malformed);
  });
});

describe('a consent', () => {
  const access: AccountAccess = { state: 's', redirectUri: 'https://tpp.example', featureScope: ['ACCOUNTS'] };
  const asked = (changes: Partial<AccountAccess> = {}, consentModel: 'global' | 'bank-offered' = 'global') =>
    map.toConsents(
      { ...access, ...changes },
      { today: now, maxConsentDays: 90, settings: { ...institution.settings, consentModel } },
    );

  it('asks for everything, again and again, a day less than the bank allows', () => {
    expect(asked()).toEqual({
      access: { allPsd2: 'allAccounts' },
      recurringIndicator: true,
      validUntil: '2027-02-18',
      frequencyPerDay: 4,
      combinedServiceIndicator: false,
    });
    expect(asked({ expiresAt: new Date('2026-12-01T09:00:00Z') }).validUntil).toBe('2026-12-01');
  });

  it('lets the PSU choose at banks that offer it, and names the accounts that were named', () => {
    expect(asked({}, 'bank-offered').access).toEqual({ accounts: [], balances: [] });
    const iban = { accountIdentification: { type: 'IBAN' as const, identification: 'DE67 1001 0010 1306 1186 05' } };
    const named = [{ iban: 'DE67100100101306118605' }];
    expect(asked({ accounts: [iban], featureScope: ['ACCOUNT_TRANSACTIONS'] }).access).toEqual({
      accounts: named,
      transactions: named,
    });
  });
});
