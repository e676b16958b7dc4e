import { readFileSync } from 'node:fs';
import { AccountStatement, Beneficiary, DirectDebitResponse, Identity, PaymentResponse } from '#libs/contract';
import { expectShape } from '../../../../test/support/expect-shape.js';
import type {
  OBBeneficiary5,
  OBDirectDebit,
  OBParty2,
  OBScheduledPayment3,
  OBStandingOrder6,
  OBStatement2,
} from './resources.types.js';
import { defaults as map } from './uk-open-banking.map.js';

interface Resources {
  Statement: OBStatement2[];
  Beneficiary: OBBeneficiary5[];
  DirectDebit: OBDirectDebit[];
  StandingOrder: OBStandingOrder6[];
  ScheduledPayment: OBScheduledPayment3[];
  Party: OBParty2;
}
const fixture = (name: string): Resources =>
  JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));
const v4 = fixture('resources');
const v3 = fixture('v3.1/resources');
const malformed = expect.objectContaining({ kind: 'malformed' });
const juniper = {
  name: 'Mrs Juniper',
  accountIdentifications: [
    { type: 'SORT_CODE', identification: '802001' },
    { type: 'ACCOUNT_NUMBER', identification: '12345678' },
  ],
};

it('makes everything of the shape of the contract, from either version', () => {
  for (const row of v4.Statement) expectShape(AccountStatement, map.toStatement(row));
  for (const row of v4.Beneficiary) expectShape(Beneficiary, map.toBeneficiary(row));
  for (const row of [...v4.DirectDebit, ...v3.DirectDebit]) expectShape(DirectDebitResponse, map.toDirectDebit(row));
  for (const row of [...v4.StandingOrder, ...v3.StandingOrder]) {
    expectShape(PaymentResponse, map.toPeriodicPayment(row));
  }
  for (const row of v4.ScheduledPayment) expectShape(PaymentResponse, map.toScheduledPayment(row));
  for (const party of [v4.Party, v3.Party]) expectShape(Identity, map.toIdentity(party));
});

describe('a statement', () => {
  it('shows its dates in UTC', () => {
    expect(map.toStatement(v4.Statement[0]!)).toEqual({
      id: '8sfhke-sifhkeuf-97813',
      startDateTime: '2026-08-01T00:00:00.000Z',
      endDateTime: '2026-08-31T23:59:59.000Z',
      creationDateTime: '2026-08-31T23:00:00.000Z',
    });
  });

  it('to which the bank gave no id has the same one every time, and another one than its neighbour', () => {
    const { id } = map.toStatement(v4.Statement[1]!);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(map.toStatement({ ...v4.Statement[1]! }).id).toBe(id);
    expect(map.toStatement({ ...v4.Statement[1]!, EndDateTime: '2026-09-11T00:00:00Z' }).id).not.toBe(id);
  });

  it('with a date nobody can read is malformed', () => {
    expect(() => map.toStatement({ ...v4.Statement[0]!, StartDateTime: 'yesterday' })).toThrow(malformed);
  });
});

describe('a beneficiary', () => {
  it('is trusted where the bank says so', () => {
    expect(map.toBeneficiary(v4.Beneficiary[0]!)).toEqual({
      id: 'Ben1',
      reference: 'Towbar Club',
      trusted: true,
      payee: {
        name: 'Mrs Juniper',
        accountIdentifications: [...juniper.accountIdentifications, { type: 'BIC', identification: 'BUKBGB22' }],
      },
    });
    expect(map.toBeneficiary(v4.Beneficiary[1]!)).toEqual({ id: 'Ben2', trusted: false });
    expect(map.toBeneficiary(v4.Beneficiary[2]!)).toEqual({ payee: { name: 'Purse', accountIdentifications: [] } });
  });
});

describe('a direct debit', () => {
  it('shows its mandate, its state and what was collected last', () => {
    expect(map.toDirectDebit(v4.DirectDebit[0]!)).toEqual({
      id: 'DD03',
      statusDetails: { status: 'ACTIVE' },
      payeeDetails: { name: 'Towbar Club 3 - We Love Towbars' },
      reference: 'Caravanners',
      previousPaymentAmount: { amount: 0.57, currency: 'GBP' },
      previousPaymentDateTime: '2026-04-05T10:43:07.000Z',
    });
  });

  it('that is suspended is inactive, in the words of v3.1 too', () => {
    expect(map.toDirectDebit(v4.DirectDebit[1]!)).toEqual({
      statusDetails: { status: 'INACTIVE' },
      payeeDetails: { name: 'Old Gym' },
    });
    expect(map.toDirectDebit(v3.DirectDebit[0]!)).toEqual({
      id: 'DD03',
      statusDetails: { status: 'INACTIVE' },
      payeeDetails: { name: 'Towbar Club 3 - We Love Towbars' },
      reference: 'Caravanners',
    });
  });

  it('of a state we do not know is UNKNOWN', () => {
    const raw = { ...v4.DirectDebit[0]!, DirectDebitStatusCode: 'LOST' };
    expect(map.toDirectDebit(raw).statusDetails).toEqual({ status: 'UNKNOWN' });
  });
});

describe('a standing order', () => {
  it('of v4.0 has its dates and rhythm in the mandate', () => {
    expect(map.toPeriodicPayment(v4.StandingOrder[0]!)).toEqual({
      id: 'Ben3',
      status: 'ACTIVE',
      statusDetails: { status: 'ACTIVE' },
      payeeDetails: juniper,
      reference: 'Towbar Club 2',
      firstPaymentDateTime: '2025-08-13T00:00:00.000Z',
      nextPaymentDateTime: '2026-08-13T00:00:00.000Z',
      previousPaymentDateTime: '2026-07-13T00:00:00.000Z',
      finalPaymentDateTime: '2027-08-13T00:00:00.000Z',
      firstPaymentAmount: { amount: 0.57, currency: 'GBP' },
      nextPaymentAmount: { amount: 0.56, currency: 'GBP' },
      previousPaymentAmount: { amount: 0.58, currency: 'GBP' },
      finalPaymentAmount: { amount: 0.59, currency: 'GBP' },
      numberOfPayments: 24,
      frequency: { frequencyType: 'MONTHLY', intervalMonth: 1, executionDay: 13 },
    });
  });

  it('of v3.1 has them in itself', () => {
    expect(map.toPeriodicPayment(v3.StandingOrder[0]!)).toEqual({
      id: 'Ben3',
      status: 'ACTIVE',
      statusDetails: { status: 'ACTIVE' },
      payeeDetails: juniper,
      reference: 'Towbar Club 2 - We Love Towbars',
      firstPaymentDateTime: '2025-08-12T00:00:00.000Z',
      nextPaymentDateTime: '2026-08-13T00:00:00.000Z',
      finalPaymentDateTime: '2027-08-12T00:00:00.000Z',
      firstPaymentAmount: { amount: 0.57, currency: 'GBP' },
      nextPaymentAmount: { amount: 0.56, currency: 'GBP' },
      finalPaymentAmount: { amount: 0.56, currency: 'GBP' },
      frequency: { frequencyType: 'EVERY_TWO_WEEKS', intervalWeek: 2, executionDay: 3 },
    });
  });

  it('leaves out what the bank did not say: a payee without a name, a number that is none, no rhythm', () => {
    expect(map.toPeriodicPayment(v4.StandingOrder[1]!)).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      status: 'INACTIVE',
      statusDetails: { status: 'INACTIVE' },
      reference: 'Pocket money',
    });
  });
});

describe('a scheduled payment', () => {
  it('is still to come', () => {
    expect(map.toScheduledPayment(v4.ScheduledPayment[0]!)).toEqual({
      id: 'SP03',
      status: 'PENDING',
      statusDetails: { status: 'PENDING' },
      payeeDetails: {
        name: 'Warm Homes Ltd',
        accountIdentifications: [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }],
      },
      reference: 'Boiler',
      amount: 10,
      currency: 'GBP',
      amountDetails: { amount: 10, currency: 'GBP' },
      scheduledPaymentType: 'EXECUTION',
      scheduledPaymentDateTime: '2026-12-05T00:00:00.000Z',
    });
  });

  it.each([
    ['amount', { InstructedAmount: { Amount: 'ten', Currency: 'GBP' } }],
    ['date', { ScheduledPaymentDateTime: '' }],
    ['type', { ScheduledType: '' }],
  ])('without a readable %s is malformed', (_what, changes) => {
    expect(() => map.toScheduledPayment({ ...v4.ScheduledPayment[0]!, ...changes })).toThrow(malformed);
  });
});

describe('an identity', () => {
  it('has the full legal name, never split into parts', () => {
    expect(map.toIdentity(v4.Party)).toEqual({
      id: 'PABC123',
      fullName: 'Ms Ada Semiotec',
      email: 'contact@semiotec.example',
      phone: '+44-7700900123',
      addresses: [
        {
          city: 'London',
          postalCode: 'NW1 1AB',
          country: 'GB',
          streetName: 'Street',
          buildingNumber: '15',
          type: 'RESIDENTIAL',
          county: 'Greater London',
        },
        { addressLines: ['Crater 4'], country: 'GB', type: 'UNKNOWN' },
      ],
    });
  });

  it('of v3.1 is the same in other words', () => {
    expect(map.toIdentity(v3.Party)).toEqual({
      id: 'PXSIF023',
      fullName: 'Kevin Atkinson',
      phone: '+44-2079460000',
      addresses: [{ addressLines: ['PO Box 12'], postalCode: 'NW1 1AB', country: 'GB', type: 'PO_BOX' }],
    });
  });
});
