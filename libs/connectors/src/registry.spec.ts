import { Feature, Problem } from '#libs/contract';
import { BankHttp } from './bank-http.js';
import { InstitutionError, mask } from './institution-error.js';
import { berlinGroupSandboxInstitutions } from './berlin-group-institutions.js';
import { sandboxInstitutions } from './institutions.js';
import { connect, features, operation } from './registry.js';

const institution = sandboxInstitutions('http://localhost:3002/')[0]!;
const credentials = {
  clientId: 'tpp',
  organisationId: 'org',
  softwareStatementId: 'statement',
  redirectUri: 'http://localhost:3000/callback',
  signingKey: { kty: 'RSA' },
  kid: 'k',
};
const tools = { http: new BankHttp({ report: () => undefined }), now: () => new Date(0), credentials };

/** What no connector can do yet: most are payments of other kinds. */
const notYet: Feature[] = [
  'INITIATE_PRE_AUTHORISATION_PAYMENTS',
  'ACCOUNT_REQUEST_DETAILS',
  'INITIATE_SINGLE_PAYMENT_SORTCODE',
  'EXISTING_PAYMENT_INITIATION_DETAILS',
  'CREATE_SINGLE_PAYMENT_SORTCODE',
  'INITIATE_EMBEDDED_DOMESTIC_SINGLE_PAYMENT',
  'INITIATE_EMBEDDED_BULK_PAYMENT',
  'INITIATE_DOMESTIC_SINGLE_INSTANT_PAYMENT',
  'CREATE_DOMESTIC_SINGLE_INSTANT_PAYMENT',
  'INITIATE_DOMESTIC_VARIABLE_RECURRING_PAYMENT',
  'CREATE_DOMESTIC_VARIABLE_RECURRING_PAYMENT',
  'INITIATE_DOMESTIC_VARIABLE_RECURRING_PAYMENT_SWEEPING',
  'CREATE_DOMESTIC_VARIABLE_RECURRING_PAYMENT_SWEEPING',
  'INITIATE_DOMESTIC_VARIABLE_RECURRING_PAYMENT_COMMERCIAL',
  'CREATE_DOMESTIC_VARIABLE_RECURRING_PAYMENT_COMMERCIAL',
  'INITIATE_DOMESTIC_SCHEDULED_PAYMENT',
  'CREATE_DOMESTIC_SCHEDULED_PAYMENT',
  'INITIATE_DOMESTIC_PERIODIC_PAYMENT',
  'CREATE_DOMESTIC_PERIODIC_PAYMENT',
  'PERIODIC_PAYMENT_FREQUENCY_EXTENDED',
  'INITIATE_INTERNATIONAL_SCHEDULED_PAYMENT',
  'CREATE_INTERNATIONAL_SCHEDULED_PAYMENT',
  'INITIATE_INTERNATIONAL_PERIODIC_PAYMENT',
  'CREATE_INTERNATIONAL_PERIODIC_PAYMENT',
  'INITIATE_INTERNATIONAL_SINGLE_PAYMENT',
  'CREATE_INTERNATIONAL_SINGLE_PAYMENT',
  'INITIATE_BULK_PAYMENT',
  'CREATE_BULK_PAYMENT',
  'EXISTING_BULK_PAYMENT_DETAILS',
  'TRANSFER',
  'OPEN_DATA_PERSONAL_CURRENT_ACCOUNTS',
  'OPEN_DATA_ATMS',
  'READ_DOMESTIC_SINGLE_REFUND',
  'READ_DOMESTIC_SCHEDULED_REFUND',
  'READ_DOMESTIC_PERIODIC_PAYMENT_REFUND',
  'READ_INTERNATIONAL_SINGLE_REFUND',
  'READ_INTERNATIONAL_SCHEDULED_REFUND',
  'INITIATE_ONETIME_PRE_AUTHORISATION_ACCOUNTS',
  'INITIATE_ONETIME_PRE_AUTHORISATION',
  'VARIABLE_RECURRING_PAYMENT_FUNDS_CONFIRMATION',
];

describe('the registry', () => {
  it('computes the features of an institution from its connector', () => {
    expect(features(institution)).toEqual([
      'ACCOUNT',
      'ACCOUNTS',
      'ACCOUNT_BALANCES',
      'ACCOUNT_BENEFICIARIES',
      'ACCOUNT_DIRECT_DEBITS',
      'ACCOUNT_PERIODIC_PAYMENTS',
      'ACCOUNT_SCHEDULED_PAYMENTS',
      'ACCOUNT_STATEMENT',
      'ACCOUNT_STATEMENTS',
      'ACCOUNT_STATEMENT_FILE',
      'ACCOUNT_TRANSACTIONS',
      'ACCOUNT_TRANSACTIONS_WITH_MERCHANT',
      'CREATE_DOMESTIC_SINGLE_PAYMENT',
      'EXISTING_PAYMENTS_DETAILS',
      'IDENTITY',
      'INITIATE_ACCOUNT_REQUEST',
      'INITIATE_DOMESTIC_SINGLE_PAYMENT',
    ]);
  });

  it('leaves out what an institution lacks, in the list and in the connector', () => {
    const poorer = { ...institution, without: ['ACCOUNT_BALANCES' as const] };
    expect(features(poorer)).not.toContain('ACCOUNT_BALANCES');
    expect(() => operation(connect(poorer, tools), 'ACCOUNT_BALANCES')).toThrow(Problem);
  });

  it('answers an operation that no connector has with the problem of the contract', () => {
    const connector = connect(institution, tools);
    expect(operation(connector, 'ACCOUNTS')).toBe(connector.operations.ACCOUNTS);
    expect(() => operation(connector, 'INITIATE_EMBEDDED_ACCOUNT_REQUEST')).toThrow(
      expect.objectContaining({ status: 424 }),
    );
  });

  it('offers at a Berlin Group bank the way it authenticates by, and no other', () => {
    const ways = berlinGroupSandboxInstitutions('http://localhost:3002').map((each) =>
      features(each).filter((feature) => feature.startsWith('INITIATE_')),
    );
    expect(ways).toEqual([
      ['INITIATE_ACCOUNT_REQUEST'],
      [
        'INITIATE_ACCOUNT_REQUEST',
        'INITIATE_ONETIME_PRE_AUTHORISATION_PAYMENTS',
        'INITIATE_PRE_AUTHORISATION',
        'INITIATE_PRE_AUTHORISATION_ACCOUNTS',
      ],
      ['INITIATE_EMBEDDED_ACCOUNT_REQUEST'],
      ['INITIATE_ACCOUNT_REQUEST', 'INITIATE_PRE_AUTHORISATION', 'INITIATE_PRE_AUTHORISATION_ACCOUNTS'],
      ['INITIATE_ACCOUNT_REQUEST'],
    ]);
  });

  it('has for every feature a sandbox bank that offers it, and one that does not', () => {
    const offers = sandboxInstitutions('http://localhost:3002/').map((each) => new Set(features(each)));
    const all = new Set(offers.flatMap((offered) => [...offered]));
    expect([...all].filter((feature) => offers.every((offered) => offered.has(feature)))).toEqual([]);
    // The rest of the interface's list is what no connector can do yet. One that comes to do it strikes it out here.
    const missing = Object.keys(Feature).filter((feature) => !all.has(feature as Feature));
    expect(missing).toEqual(notYet);
  });

  it('knows the sandbox banks by their data only', () => {
    const all = sandboxInstitutions('http://localhost:3002/');
    expect(all.map(({ id, baseUrl }) => [id, baseUrl])).toEqual([
      ['meridian-sandbox', 'http://localhost:3002/banks/meridian'],
      ['tamar-sandbox', 'http://localhost:3002/banks/tamar'],
      ['thistle-sandbox', 'http://localhost:3002/banks/thistle'],
      ['lindenhof-sandbox', 'http://localhost:3002/banks/lindenhof'],
      ['marais-sandbox', 'http://localhost:3002/banks/marais'],
      ['isarkasse-sandbox', 'http://localhost:3002/banks/isarkasse'],
      ['fjordbank-sandbox', 'http://localhost:3002/banks/fjordbank'],
      ['ticino-sandbox', 'http://localhost:3002/banks/ticino'],
    ]);
  });
});

describe('an institution error', () => {
  it.each([
    ['Account GB33BUKB20201555555555 is closed', 'Account [iban] is closed'],
    ['IBAN GB33 BUKB 2020 1555 5555 55 unknown', 'IBAN [iban] unknown'],
    ['Sort code 20-00-00 account 12345678', 'Sort code [number] account [number]'],
    ['token eyJhbGciOiJQUzI1NiIsImtpZCI6ImsxIn0.eyJzdWIiOiJ4In0.c2lnbmF0dXJl is dead', 'token [token] is dead'],
    ['Data.Initiation.InstructedAmount is missing', 'Data.Initiation.InstructedAmount is missing'],
  ])('hides what no log may hold: %s', (message, shown) => {
    expect(mask(message)).toBe(shown);
    expect(new InstitutionError('rejected', message).message).toBe(shown);
  });
});
