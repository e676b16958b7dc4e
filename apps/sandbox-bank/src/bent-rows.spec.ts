import { BerlinTpp, globalAccess, type BerlinRow } from './berlin-group/berlin-tpp.fixture.js';
import { startForTest, TppAtBank, type TppFixture } from './tpp.fixture.js';

let fixture: TppFixture;
let berlin: BerlinTpp;
let consentId: string;
let account: string;
beforeAll(async () => {
  fixture = await startForTest();
  berlin = new BerlinTpp(fixture, 'fjordbank');
  // At other times nothing may be pending, or nothing late.
  await berlin.control('clock', { set: '2026-11-20T14:00:00Z' });
  consentId = (await berlin.createConsent(globalAccess, { 'psu-id': 'ada' })).body.consentId;
  await berlin.control('decoupled', { bank: 'fjordbank', consentId, decision: 'approve' });
  const attended = { 'psu-ip-address': '192.0.2.7' };
  account = (await berlin.read('/v1/accounts', consentId, attended)).body.accounts[0]!.resourceId;
});
afterAll(() => fixture.close());
afterEach(async () => {
  await fetch(`${fixture.sandbox.url}/control/faults`, { method: 'DELETE' });
});

type Rows = { booked: BerlinRow[]; pending: BerlinRow[] };

async function rowsWith(fault: string | undefined): Promise<Rows> {
  if (fault !== undefined) await berlin.control('faults', { bank: 'fjordbank', fault, times: 1 });
  const path = `/v1/accounts/${account}/transactions?bookingStatus=both&dateFrom=2026-01-01`;
  return (await berlin.read(path, consentId, { 'psu-ip-address': '192.0.2.7' })).body.transactions;
}
const ids = (rows: BerlinRow[]): unknown[] => rows.map((row) => row.transactionId);
const amounts = (rows: BerlinRow[]): string[] => rows.map((row) => row.transactionAmount.amount);

it('numbers rows by their place', async () => {
  const { booked } = await rowsWith('positional-ids');
  expect(ids(booked)).toEqual(booked.map((_row, index) => String(index + 1)));
});

it('gives every row another id each day', async () => {
  const today = await rowsWith('reissued-ids');
  expect(ids((await rowsWith('reissued-ids')).booked)).toEqual(ids(today.booked));
  const plain = await rowsWith(undefined);
  expect(amounts(today.booked)).toEqual(amounts(plain.booked));
  expect(ids(today.booked).filter((id) => ids(plain.booked).includes(id))).toEqual([]);
  await berlin.control('clock', { advance: 'P1D' });
  const tomorrow = await rowsWith('reissued-ids');
  expect(ids(tomorrow.booked).filter((id) => ids(today.booked).includes(id))).toEqual([]);
  await berlin.control('clock', { advance: '-P1D' });
});

it('changes id, amount or dates of what is pending, and of nothing else', async () => {
  const plain = await rowsWith(undefined);
  expect(plain.pending.length).toBeGreaterThan(0);
  for (const fault of ['pending-id', 'pending-amount', 'pending-date'])
    expect((await rowsWith(fault)).booked).toEqual(plain.booked);
  expect(ids((await rowsWith('pending-id')).pending)).not.toEqual(ids(plain.pending));
  expect(amounts((await rowsWith('pending-id')).pending)).toEqual(amounts(plain.pending));
  expect(amounts((await rowsWith('pending-amount')).pending)).not.toEqual(amounts(plain.pending));
  const days = (rows: BerlinRow[]): string[] => rows.map((row) => row.valueDate);
  expect(days((await rowsWith('pending-date')).pending)).not.toEqual(days(plain.pending));
});

it('holds an amount for a day and books it never', async () => {
  const { pending } = await rowsWith('pending-vanish');
  const [hold] = pending;
  expect(hold).toMatchObject({ transactionAmount: { amount: '-99.00' } });
  await berlin.control('clock', { advance: 'P3D' });
  const later = await rowsWith(undefined);
  expect(ids([...later.booked, ...later.pending])).not.toContain(hold!.transactionId);
  await berlin.control('clock', { advance: '-P3D' });
});

it('shows some booked rows days late, under their old date', async () => {
  const late = ids((await rowsWith('late-booking')).booked);
  const plain = ids((await rowsWith(undefined)).booked);
  const missing = plain.filter((id) => !late.includes(id));
  expect(missing.length).toBeGreaterThan(0);
  await berlin.control('clock', { advance: 'P4D' });
  expect(ids((await rowsWith('late-booking')).booked)).toEqual(expect.arrayContaining(missing));
  await berlin.control('clock', { advance: '-P4D' });
});

it('bends the rows of UK banks alike', async () => {
  const tpp = new TppAtBank(fixture, 'meridian');
  const token = (await tpp.authorise(await tpp.createAccountConsent(), 'accounts')).access_token;
  const path = `/aisp/accounts/${fixture.sandbox.ledger.accountsOf('meridian', 'ada')[0]!.id}/transactions`;
  const read = async (fault: string): Promise<{ TransactionId: string; Status: string }[]> => {
    await tpp.control('faults', { bank: 'meridian', fault, times: 1 });
    const answer = (await (await tpp.get(path, token)).json()) as {
      Data: { Transaction: { TransactionId: string; Status: string }[] };
    };
    return answer.Data.Transaction;
  };
  expect((await read('positional-ids')).at(-1)!.TransactionId).toBe('100');
  const [hold] = await read('pending-vanish');
  expect(hold!.Status).toBe('PDNG');
  expect((await read('pending-id')).map((row) => row.TransactionId)).not.toContain(hold!.TransactionId);
});
