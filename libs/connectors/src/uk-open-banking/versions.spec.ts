import { readFileSync } from 'node:fs';
import { Account, PaymentType, Transaction, type PaymentRequest } from '#libs/contract';
import { expectShape } from '../../../../test/support/expect-shape.js';
import { errorCodeOf } from './codes.js';
import { defaults as map } from './uk-open-banking.map.js';
import type { OBAccount6, OBBalance, OBTransaction6, OBWriteDomesticResponse5 } from './uk-open-banking.types.js';

/** v3.1 says in words what v4.0 says in codes; a caller must not notice. */

const raw: {
  Account: OBAccount6[];
  Balance: OBBalance[];
  Transaction: OBTransaction6[];
  Payment: OBWriteDomesticResponse5['Data'];
} = JSON.parse(readFileSync(new URL('fixtures/v3.1/account-data.json', import.meta.url), 'utf8'));

describe('v3.1', () => {
  it('has its own words for accounts', () => {
    const accounts = raw.Account.map(map.toAccount);
    for (const account of accounts) expectShape(Account, account);
    expect(accounts.map(({ type, accountType, usageType }) => [type, accountType, usageType])).toEqual([
      ['Personal - Current', 'CURRENT', 'PERSONAL'],
      ['Business - Pre-Paid Card', 'PREPAID_CARD', 'BUSINESS'],
      ['Personal - Moneybox', 'UNKNOWN', 'PERSONAL'],
    ]);
    expect(accounts[0]?.accountIdentifications).toContainEqual({ type: 'ROLL_NUMBER', identification: '00022' });
  });

  it('has its own words for balances', () => {
    expect(map.toBalances(raw.Balance)).toMatchObject({
      mainBalanceAmount: { amount: -7.5, currency: 'GBP' },
      balances: [{ type: 'CLOSING_CLEARED' }, { type: 'INTERIM_AVAILABLE' }],
    });
  });

  it('has its own words for transactions', () => {
    const [booked, pending, rejected] = raw.Transaction.map(map.toTransaction);
    expectShape(Transaction, booked!);
    expect(booked).toMatchObject({
      status: 'BOOKED',
      amount: 10,
      balance: { type: 'INTERIM_BOOKED', balanceAmount: { amount: 230, currency: 'GBP' } },
      isoBankTransactionCode: {
        familyCode: { code: 'RCDT', name: 'ReceivedCreditTransfers' },
        subFamilyCode: { code: 'DMCT', name: 'DomesticCreditTransfer' },
      },
    });
    expect(pending).toMatchObject({
      status: 'PENDING',
      amount: -3.2,
      isoBankTransactionCode: { familyCode: { code: 'MysteryMovement', name: 'UNKNOWN' } },
    });
    expect(rejected).toBeUndefined();
  });

  it('has its own words for payments', () => {
    const status = (Status: string) => map.toBankPayment({ ...raw.Payment, Status }, false);
    expect(status(raw.Payment.Status)).toMatchObject({
      institutionPaymentId: '58923-001',
      final: false,
      statusDetails: {
        status: 'COMPLETED',
        isoStatus: { code: 'ACSP', name: 'AcceptedSettlementInProcess' },
        multiAuthorisationStatus: { status: 'AwaitingFurtherAuthorisation', numberOfAuthorisationReceived: 1 },
      },
      chargeDetails: [{ chargeTo: 'SHAR' }],
    });
    expect(status('Pending')).toMatchObject({ statusDetails: { status: 'PENDING', isoStatus: { code: 'PDNG' } } });
    expect(status('Rejected')).toMatchObject({ statusDetails: { status: 'FAILED' }, final: true });
    expect(status('AcceptedCreditSettlementCompleted')).toMatchObject({ final: true });
    expect(map.toBankPayment({ ...raw.Payment, Status: 'AcceptedSettlementCompleted' }, true).final).toBe(true);
  });

  it.each([
    ['UK.OBIE.Resource.InvalidConsentStatus', 'U009'],
    ['UK.OBIE.Resource.NotFound', 'U011'],
    ['UK.OBIE.Reauthenticate', 'U028'],
    ['UK.OBIE.UnexpectedError', 'UK.OBIE.UnexpectedError'],
    ['UK.OBIE.Field.Missing', 'UK.OBIE.Field.Missing'],
    ['U009', 'U009'],
    [undefined, undefined],
  ])('calls an error %s where v4.0 says %s', (word, code) => {
    expect(errorCodeOf(word)).toBe(code);
  });
});

describe('a payment consent', () => {
  const payment: PaymentRequest = {
    paymentIdempotencyId: 'p1',
    type: PaymentType.DOMESTIC_PAYMENT,
    amount: { amount: 5, currency: 'GBP' },
    reference: 'Order 77',
    contextType: 'PISP_PAYEE',
    payee: { name: 'Shop', accountIdentifications: [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }] },
  };

  it('has a flat reference and a misspelt indicator in v3.1', () => {
    const { Data, Risk } = map.toDomesticConsent(payment, '3.1');
    expect(Data.Initiation.RemittanceInformation).toEqual({ Reference: 'Order 77' });
    expect(Risk).toEqual({ PaymentContextCode: 'PispPayee', ContractPresentInidicator: true });
  });

  it('has a structured reference in v4.0, which lacks that context', () => {
    const { Data, Risk } = map.toDomesticConsent(payment, '4.0');
    expect(Data.Initiation.RemittanceInformation).toEqual({
      Structured: [{ CreditorReferenceInformation: { Reference: 'Order 77' } }],
    });
    expect(Risk).toEqual({ ContractPresentIndicator: true });
  });
});
