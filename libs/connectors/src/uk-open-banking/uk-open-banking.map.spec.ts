import { readFileSync } from 'node:fs';
import { PaymentType, Problem, type PaymentRequest } from '#libs/contract';
import { InstitutionError } from '../institution-error.js';
import { defaults as map } from './uk-open-banking.map.js';
import type {
  OBReadAccount6,
  OBReadBalance1,
  OBReadTransaction6,
  OBTransaction6,
  OBWriteDomesticResponse5,
} from './uk-open-banking.types.js';

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));
const accounts = (fixture('accounts') as OBReadAccount6).Data.Account?.map(map.toAccount) ?? [];
const rows = (fixture('transactions') as OBReadTransaction6).Data.Transaction ?? [];
const row = (index: number, changes: Partial<OBTransaction6> = {}) =>
  map.toTransaction({ ...rows[index]!, ...changes });
const payment: PaymentRequest = {
  paymentIdempotencyId: 'a'.repeat(35),
  type: PaymentType.DOMESTIC_PAYMENT,
  amount: { amount: 10.5, currency: 'GBP' },
  reference: 'Order 77',
  contextType: 'ECOMMERCE_MERCHANT',
  payee: {
    name: 'Harbour Books',
    accountIdentifications: [
      { type: 'SORT_CODE', identification: '20-00-00' },
      { type: 'ACCOUNT_NUMBER', identification: '12345678' },
    ],
  },
};
const malformed = expect.objectContaining({ kind: 'malformed' });

describe('an account', () => {
  it('shows a sort code and account number apart, and an IBAN without blanks', () => {
    expect(accounts[0]).toEqual({
      id: '22289',
      type: 'Personal - Current',
      description: 'Everyday account',
      currency: 'GBP',
      usageType: 'PERSONAL',
      accountType: 'CURRENT',
      nickname: 'Bills',
      accountNames: [{ name: 'Mr Kevin' }],
      accountIdentifications: [
        { type: 'SORT_CODE', identification: '802001' },
        { type: 'ACCOUNT_NUMBER', identification: '10203345' },
        { type: 'IBAN', identification: 'GB33BUKB20201555555555' },
      ],
    });
  });

  it('tells a masked card number from a whole one', () => {
    expect(accounts[1]).toMatchObject({
      accountType: 'CREDIT_CARD',
      accountIdentifications: [{ type: 'MASKED_PAN', identification: '************2377' }],
    });
  });

  it('keeps a roll number and takes unknown codes as unknown', () => {
    expect(accounts[2]).toMatchObject({
      type: 'Trust - ZZZZ',
      usageType: 'UNKNOWN',
      accountType: 'UNKNOWN',
      accountIdentifications: [
        { type: 'SORT_CODE', identification: '070246' },
        { type: 'ACCOUNT_NUMBER', identification: '00000022' },
        { type: 'ROLL_NUMBER', identification: '00021' },
      ],
    });
  });

  it('without an id cannot be read', () => {
    expect(() => map.toAccount({ AccountId: ' ' })).toThrow(malformed);
  });
});

describe('balances', () => {
  const raw = (fixture('balances') as OBReadBalance1).Data.Balance;

  it('are signed by their indicator, and the headline is the first of the documented order', () => {
    const { mainBalanceAmount, balances } = map.toBalances(raw);
    expect(mainBalanceAmount).toEqual({ amount: 57.36, currency: 'GBP' });
    expect(balances[0]).toEqual({
      type: 'INTERIM_BOOKED',
      dateTime: '2026-04-05T10:43:07.000Z',
      balanceAmount: { amount: -1230, currency: 'GBP' },
    });
    expect(balances[1]).toMatchObject({
      type: 'INTERIM_AVAILABLE',
      dateTime: '2026-04-05T10:43:07.500Z',
      creditLineIncluded: true,
      creditLines: [{ type: 'PRE_AGREED', creditLineAmount: { amount: 1500, currency: 'GBP' } }],
    });
  });

  it('of zero are never a negative zero, and an unknown type is UNKNOWN', () => {
    const { balances } = map.toBalances(raw.slice(2));
    expect(balances[0]?.type).toBe('UNKNOWN');
    expect(Object.is(balances[0]?.balanceAmount?.amount, 0)).toBe(true);
  });

  it('that are no list are malformed, not none', () => expect(() => map.toBalances(undefined)).toThrow(malformed));
  it.each([
    ['no number', { ...raw[0]!, Amount: { Amount: 'NaN', Currency: 'GBP' } }],
    ['no direction', { ...raw[0]!, CreditDebitIndicator: 'Sideways' }],
  ])('with %s are malformed, not zero, and left out beside others', (_what, broken) => {
    expect(() => map.toBalances([broken])).toThrow(malformed);
    expect(map.toBalances([broken, raw[0]!])).toEqual(map.toBalances([raw[0]!]));
  });
});

describe('a transaction', () => {
  it('carries everything the bank said', () => {
    expect(row(0)).toEqual({
      id: '123',
      date: '2026-04-05T10:43:07.000Z',
      bookingDateTime: '2026-04-05T10:43:07.000Z',
      valueDateTime: '2026-04-05T10:45:22.000Z',
      status: 'BOOKED',
      amount: 1900.1,
      currency: 'GBP',
      transactionAmount: { amount: 1900.1, currency: 'GBP' },
      currencyExchange: { sourceCurrency: 'EUR', targetCurrency: 'GBP', unitCurrency: 'EUR', exchangeRate: 0.8614 },
      chargeDetails: { chargeAmount: { amount: 0.5, currency: 'GBP' } },
      reference: 'INV-2026-04',
      statementReferences: [{ value: '002' }],
      description: 'Salary from Aubrey Ltd',
      transactionInformation: ['Salary from Aubrey Ltd'],
      addressDetails: { addressLine: 'Coventry House' },
      isoBankTransactionCode: {
        domainCode: { code: 'UNKNOWN', name: 'UNKNOWN' },
        familyCode: { code: 'RCDT', name: 'ReceivedCreditTransfers' },
        subFamilyCode: { code: 'SALA', name: 'PayrollSalaryPayment' },
      },
      proprietaryBankTransactionCode: { code: 'BGC', issuer: 'Meridian' },
      balance: { type: 'INTERIM_BOOKED', balanceAmount: { amount: -230, currency: 'GBP' } },
      payerDetails: {
        name: 'Aubrey Ltd',
        accountIdentifications: [
          { type: 'SORT_CODE', identification: '080800' },
          { type: 'ACCOUNT_NUMBER', identification: '21325698' },
          { type: 'BIC', identification: 'BUKBGB22' },
        ],
      },
      supplementaryData: { CategoryPurposeCode: 'SALA' },
      transactionMutability: 'Immutable',
    });
  });

  it('goes by the indicator when a minus contradicts it, and says so', () => {
    expect(row(1)).toMatchObject({ amount: -3.2, supplementaryData: { signContradictsIndicator: true } });
    expect(row(1, { CreditDebitIndicator: 'Credit' })).toMatchObject({ amount: 3.2 });
  });

  it('that is pending is mutable, and shows its merchant with a code of four digits', () => {
    expect(row(1)).toMatchObject({
      status: 'PENDING',
      transactionMutability: 'Mutable',
      merchant: { merchantName: 'The Bean', merchantCategoryCode: '0581' },
    });
  });

  it.each([1, 2])('has no id when the bank gave a blank or a placeholder (row %i)', (index) => {
    expect(row(index)).not.toHaveProperty('id');
  });

  it('with a status we do not know has none, and a date without a time is midnight UTC', () => {
    expect(row(2)).not.toHaveProperty('status');
    expect(row(2)).toMatchObject({ date: '2026-02-28T00:00:00.000Z', amount: 0 });
  });

  it('that was rejected, or only informs, is no transaction', () => {
    expect(row(3)).toBeUndefined();
    expect(row(0, { Status: 'INFO' })).toBeUndefined();
  });

  it('keeps a date it lacks absent', () => {
    const transaction = row(1, { BookingDateTime: '' });
    expect(transaction).not.toHaveProperty('date');
  });

  it.each<[string, Partial<OBTransaction6>]>([
    ['amount', { Amount: { Amount: '1e3', Currency: 'GBP' } }],
    ['amount beyond exactness', { Amount: { Amount: '1234567890123.12345', Currency: 'GBP' } }],
    ['currency', { Amount: { Amount: '1.00', Currency: '' } }],
    ['indicator', { CreditDebitIndicator: '' }],
    ['status', { Status: '' }],
    ['day of the calendar', { BookingDateTime: '2026-02-30T10:00:00Z' }],
    ['zone', { BookingDateTime: '2026-02-20T10:00:00' }],
  ])('without a readable %s is malformed', (_what, changes) => {
    expect(() => row(0, changes)).toThrow(InstitutionError);
    expect(() => row(0, changes)).toThrow(malformed);
  });

  it.each([
    ['0.1', 0.1],
    ['1234567890.12345', 1234567890.12345],
    ['10', 10],
    ['00010.50', 10.5],
  ])('reads the amount %s exactly', (text, amount) => {
    expect(row(0, { Amount: { Amount: text, Currency: 'GBP' } })?.amount).toBe(amount);
  });
});

describe('a payment consent', () => {
  it('carries the amount as text and joins sort code and account number', () => {
    expect(map.toDomesticConsent(payment, '4.0')).toEqual({
      Data: {
        Initiation: {
          InstructionIdentification: 'a'.repeat(35),
          EndToEndIdentification: 'a'.repeat(31),
          InstructedAmount: { Amount: '10.50', Currency: 'GBP' },
          CreditorAccount: {
            SchemeName: 'UK.OBIE.SortCodeAccountNumber',
            Identification: '20000012345678',
            Name: 'Harbour Books',
          },
          RemittanceInformation: { Structured: [{ CreditorReferenceInformation: { Reference: 'Order 77' } }] },
        },
      },
      Risk: { PaymentContextCode: 'EcommerceMerchantInitiatedPayment' },
    });
  });

  it('takes an IBAN where there is no sort code', () => {
    const payee = {
      ...payment.payee,
      accountIdentifications: [{ type: 'IBAN' as const, identification: 'GB33 BUKB 2020' }],
    };
    expect(map.toDomesticConsent({ ...payment, payee }, '4.0').Data.Initiation.CreditorAccount).toMatchObject({
      SchemeName: 'UK.OBIE.IBAN',
      Identification: 'GB33BUKB2020',
    });
  });

  it.each<[string, Partial<PaymentRequest>]>([
    ['a fraction of a penny', { amount: { amount: 1.005, currency: 'GBP' } }],
    ['nothing', { amount: { amount: 0, currency: 'GBP' } }],
    [
      'a sort code alone',
      { payee: { name: 'X', accountIdentifications: [{ type: 'SORT_CODE', identification: '200000' }] } },
    ],
  ])('of %s is refused by the name of the member', (_what, changes) => {
    expect(() => map.toDomesticConsent({ ...payment, ...changes }, '4.0')).toThrow(Problem);
  });
});

describe('a payment at the bank', () => {
  const raw = (fixture('domestic-payment') as OBWriteDomesticResponse5).Data;

  it('shows status, reason, charges, refund account and who else must agree', () => {
    expect(map.toBankPayment(raw, false)).toEqual({
      institutionPaymentId: 'pv4-58923-001',
      institutionConsentId: '58923',
      createdAt: '2026-06-05T15:15:13.000Z',
      final: false,
      statusDetails: {
        status: 'COMPLETED',
        statusReason: 'AM23',
        statusReasonDescription: 'Settled',
        statusUpdateDate: '2026-06-05T15:15:22.000Z',
        isoStatus: { code: 'ACSC', name: 'AcceptedSettlementCompleted' },
        multiAuthorisationStatus: {
          status: 'AWAF',
          numberOfAuthorisationRequired: 2,
          numberOfAuthorisationReceived: 1,
        },
      },
      chargeDetails: [
        { chargeAmount: { amount: 5, currency: 'GBP' }, chargeType: 'UK.OBIE.CHAPSOut', chargeTo: 'DEBT' },
      ],
      refundAccount: {
        name: 'Mr Kevin',
        accountIdentifications: [
          { type: 'SORT_CODE', identification: '080800' },
          { type: 'ACCOUNT_NUMBER', identification: '21325698' },
        ],
      },
    });
  });

  it.each([
    ['RCVD', 'PENDING', false],
    ['PDNG', 'PENDING', false],
    ['ACSP', 'COMPLETED', false],
    ['ACCC', 'COMPLETED', true],
    ['RJCT', 'FAILED', true],
    ['BLCK', 'FAILED', true],
    ['NOVA', 'UNKNOWN', false],
  ])('in status %s is %s', (Status, status, final) => {
    const mapped = map.toBankPayment({ ...raw, Status }, false);
    expect(mapped).toMatchObject({ statusDetails: { status }, final });
  });

  it('is final at ACSC where the institution says so', () => {
    expect(map.toBankPayment(raw, true).final).toBe(true);
  });
});
