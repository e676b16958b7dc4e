import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import { now } from '#libs/server';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { AccountView, BalanceProofView } from '../accounts/account.dto.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let connectionId: string;
/** What the bank has booked, which is what its balance is made of. */
let ledger: Transaction[];
let customers = 0;
const dayMs = 86_400_000;
const stepMs = 7 * 3_600_000;

/** A booked row of so many days ago, of which the bank tells the day. */
function row(amount: number, days = 0): Transaction {
  const day = `${new Date(now().getTime() - days * dayMs).toISOString().slice(0, 10)}T00:00:00.000Z`;
  const transactionAmount = { amount, currency: 'GBP' };
  return { date: day, bookingDateTime: day, status: 'BOOKED', transactionAmount, description: `Shop ${amount}` };
}

/** The bank's answers are those of its ledger, or of `rows` where it loses or doubles some. */
function show(rows = ledger): void {
  const amount = ledger.reduce((sum, { transactionAmount }) => sum + (transactionAmount?.amount ?? 0), 500);
  bff.aggregator.balances = { balances: [{ type: 'INTERIM_BOOKED', balanceAmount: { amount, currency: 'GBP' } }] };
  bff.aggregator.transactions = new Map([['acc', rows]]);
}

/** The bank books while it is being read: after the balance, before the rows. */
function bookDuringReading(booked: () => Transaction): void {
  bff.aggregator.onPage = () => {
    bff.aggregator.onPage = () => {};
    ledger = [...ledger, booked()];
    show();
  };
}

const synchronise = (times: number): Promise<void> => later(times * stepMs, () => bff.synchronise(connectionId));
const proof = async (): Promise<BalanceProofView | undefined> =>
  (await bff.ask<{ data: AccountView[] }>('GET /v1/accounts', { as: token })).body.data[0]?.balanceProof;
const events = async (): Promise<string[]> => {
  const { body } = await bff.ask<{ data: { type: string; data: { amount: string } }[] }>(
    'GET /v1/events?types=account.balance-mismatch,account.balance-agreed',
    { as: token },
  );
  return body.data.map(({ type, data }) => `${type} ${data.amount}`);
};

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
});
afterAll(() => bff.close());
beforeEach(async () => {
  customers += 1;
  ({ token } = await bff.session(merchant, `customer-${customers}`));
  bff.aggregator.onPage = () => {};
  ledger = [row(-10, 20), row(-20, 3)];
  show();
  connectionId = (await bff.connected(token)).id;
});

describe('a booking between the call for the balance and the call for the rows', () => {
  it('is no difference, and the next synchronisation says so', async () => {
    await synchronise(0);
    bookDuringReading(() => row(-7));
    await synchronise(1);
    expect(bff.aggregator.transactions.get('acc')).toHaveLength(3);
    expect(await proof()).toMatchObject({ difference: 0 });
    await synchronise(2);
    expect(await proof()).toMatchObject({ difference: 0, candidates: [] });
    expect(await events()).toEqual([]);
  });

  it('is none in the reading that the proof begins with', async () => {
    bookDuringReading(() => row(-7));
    await synchronise(0);
    await synchronise(1);
    await synchronise(2);
    expect(await proof()).toMatchObject({ difference: 0 });
    expect(await events()).toEqual([]);
  });

  it('costs no call', async () => {
    await synchronise(0);
    bff.aggregator.calls.length = 0;
    bookDuringReading(() => row(-7));
    await synchronise(1);
    expect(bff.aggregator.callsOf('GET /accounts/:id/balances')).toHaveLength(1);
  });
});

describe('what the bank shows wrongly is told within one synchronisation', () => {
  it('where a new row is lost, and taken back when it is there', async () => {
    await synchronise(0);
    const known = ledger;
    ledger = [...known, row(-7)];
    show(known);
    await synchronise(1);
    expect(await proof()).toMatchObject({ difference: -7 });
    show();
    await synchronise(2);
    expect(await proof()).toMatchObject({ difference: 0, candidates: [] });
    expect(await events()).toEqual(['account.balance-mismatch -7', 'account.balance-agreed -7']);
  });

  it.each([
    ['a new', -7],
    ['an old', -20],
  ])('where %s row is doubled', async (_, doubled) => {
    await synchronise(0);
    ledger = [...ledger, row(-7)];
    show([...ledger, ...ledger.filter(({ transactionAmount }) => transactionAmount?.amount === doubled)]);
    await synchronise(1);
    const told = await proof();
    expect(told).toMatchObject({ difference: -doubled });
    expect(told?.candidates).toHaveLength(2);
    expect(await events()).toEqual([`account.balance-mismatch ${-doubled}`]);
  });
});
