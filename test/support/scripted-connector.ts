import { vi } from 'vitest';
import type { Account, AccountStatement, Balances, Feature, PaymentResponse, Transaction } from '#libs/contract';
import {
  features as featuresOf,
  type BankPayment,
  type Connector,
  type Grant,
  type Institution,
  type Operations,
} from '#libs/connectors';
import { InstitutionsService } from '../../apps/aggregator/src/institutions/institutions.service.js';
import type { TestAggregator } from './aggregator.js';

/** The institution that a scripted connector stands for. */
export const scriptedInstitution: Institution = {
  id: 'scripted-bank',
  name: 'Scripted Bank',
  fullName: 'Scripted Bank plc',
  countries: [{ displayName: 'United Kingdom', countryCode2: 'GB' }],
  environmentType: 'MOCK',
  credentialsType: 'OPEN_BANKING_UK_AUTO',
  media: [],
  protocol: 'uk-open-banking',
  baseUrl: 'https://bank.test',
  maxConsentDays: 90,
  acscIsFinal: true,
  requiredPsuHeaders: [],
  pageBounds: { pages: 10, records: 10_000, ms: 10_000 },
  settings: {
    version: '4.0',
    responseMode: 'fragment',
    jwsB64: false,
    trustAnchor: 'openbanking.org.uk',
    signingKeysUrl: 'https://bank.test/jwks',
  },
};

/** A payment as the scripted bank sees it; `code` is its ISO status. */
export function bankPayment(code: 'PDNG' | 'ACSP' | 'ACSC' | 'RJCT', id = 'pv3-1'): BankPayment {
  const status = { PDNG: 'PENDING', ACSP: 'COMPLETED', ACSC: 'COMPLETED', RJCT: 'FAILED' } as const;
  return {
    institutionPaymentId: id,
    institutionConsentId: 'sdp-1',
    statusDetails: { status: status[code], isoStatus: { code } },
    final: code === 'ACSC' || code === 'RJCT',
  };
}

/** Every operation as a mock that behaves like a bank where all is well; a test replaces what it is about. */
export function scriptedConnector() {
  const pending = (id: string): Grant => ({ institutionConsentId: id, state: { nonce: 'n' } });
  const operations = {
    INITIATE_ACCOUNT_REQUEST: vi.fn<Operations['INITIATE_ACCOUNT_REQUEST']>(async (_call, { state }) => {
      return { kind: 'redirect', url: `https://bank.test/authorise?state=${state}`, pending: pending('aac-1') };
    }),
    ACCOUNTS: vi.fn<Operations['ACCOUNTS']>(async () => [account('a-1')]),
    ACCOUNT: vi.fn<Operations['ACCOUNT']>(async (_call, id) => account(id)),
    ACCOUNT_BALANCES: vi.fn<Operations['ACCOUNT_BALANCES']>(async () => balances),
    ACCOUNT_TRANSACTIONS: vi.fn<Operations['ACCOUNT_TRANSACTIONS']>(async () => ({ items: transactions(3) })),
    ACCOUNT_STATEMENTS: vi.fn<Operations['ACCOUNT_STATEMENTS']>(async () => ({ items: statements(3) })),
    ACCOUNT_STATEMENT: vi.fn<Operations['ACCOUNT_STATEMENT']>(async (_call, _accountId, id) => ({ id })),
    ACCOUNT_STATEMENT_FILE: vi.fn<Operations['ACCOUNT_STATEMENT_FILE']>(async () => ({
      contentType: 'application/pdf',
      body: new TextEncoder().encode('%PDF-1.7'),
    })),
    ACCOUNT_BENEFICIARIES: vi.fn<Operations['ACCOUNT_BENEFICIARIES']>(async () => [{ id: 'b-1' }]),
    ACCOUNT_DIRECT_DEBITS: vi.fn<Operations['ACCOUNT_DIRECT_DEBITS']>(async () => [{ id: 'd-1' }]),
    ACCOUNT_PERIODIC_PAYMENTS: vi.fn<Operations['ACCOUNT_PERIODIC_PAYMENTS']>(async () => [standingPayment('p-1')]),
    ACCOUNT_SCHEDULED_PAYMENTS: vi.fn<Operations['ACCOUNT_SCHEDULED_PAYMENTS']>(async () => [standingPayment('s-1')]),
    IDENTITY: vi.fn<Operations['IDENTITY']>(async () => ({ id: 'i-1', fullName: 'Ann Bell' })),
    INITIATE_DOMESTIC_SINGLE_PAYMENT: vi.fn<Operations['INITIATE_DOMESTIC_SINGLE_PAYMENT']>(
      async (_call, _payment, { state }) => {
        return { kind: 'redirect', url: `https://bank.test/authorise?state=${state}`, pending: pending('sdp-1') };
      },
    ),
    CREATE_DOMESTIC_SINGLE_PAYMENT: vi.fn<Operations['CREATE_DOMESTIC_SINGLE_PAYMENT']>(async () =>
      bankPayment('ACSP'),
    ),
    EXISTING_PAYMENTS_DETAILS: vi.fn<Operations['EXISTING_PAYMENTS_DETAILS']>(async () => bankPayment('ACSC')),
  };
  return {
    operations,
    resendable: true,
    proceed: vi.fn<Connector['proceed']>(async (_call, held, answer) => {
      const error = 'callback' in answer ? answer.callback.get('error') : null;
      if (error !== null) return { kind: 'rejected', reason: error };
      return { kind: 'authorised', grant: { ...held, state: { refreshToken: 'r-1' } } };
    }),
    revoke: vi.fn<Connector['revoke']>(async () => {}),
  };
}

export type ScriptedConnector = ReturnType<typeof scriptedConnector>;

/** Makes `connector` the only institution of an aggregator, under the id of `scriptedInstitution`. */
export function scriptInstitution(
  aggregator: TestAggregator,
  connector: Connector,
  changes: Partial<Institution> = {},
): void {
  const data: Institution = { ...scriptedInstitution, ...changes };
  const institutions = aggregator.get(InstitutionsService);
  const original = InstitutionsService.prototype.require.bind(institutions);
  const offered: Feature[] = featuresOf(data);
  vi.spyOn(institutions, 'require').mockImplementation((id, parameter) =>
    id === data.id ? { data, features: offered, connector } : original(id, parameter),
  );
  vi.spyOn(institutions, 'redirectUri').mockReturnValue('https://aggregator.test/callback');
}

/** `count` transactions, one a day and the newest first, from 1 January 2026 on. */
export function transactions(count: number): Transaction[] {
  return Array.from({ length: count }, (_, index) => {
    const nth = count - index;
    const date = new Date(Date.UTC(2026, 0, nth)).toISOString();
    const transactionAmount = { amount: -nth, currency: 'GBP' };
    return {
      id: `t-${nth}`,
      date,
      status: 'BOOKED',
      ...transactionAmount,
      transactionAmount,
      description: `Row ${nth}`,
    };
  });
}

/** `count` statements, one a day and the newest first, from 1 January 2026 on. */
export function statements(count: number): AccountStatement[] {
  return transactions(count).map(({ id = '', date = '' }) => ({ id: id.replace('t', 'st'), creationDateTime: date }));
}

function standingPayment(id: string): PaymentResponse {
  return { id, status: 'PENDING', reference: 'Rent' };
}

function account(id: string): Account {
  return { id, type: 'Personal - Current', currency: 'GBP', balance: 12.5 };
}

const balances: Balances = {
  mainBalanceAmount: { amount: 12.5, currency: 'GBP' },
  balances: [{ type: 'INTERIM_AVAILABLE', balanceAmount: { amount: 12.5, currency: 'GBP' } }],
};
