import { isIban } from '../identifiers.js';
import { startForTest, type TppFixture } from '../tpp.fixture.js';
import { BerlinTpp, globalAccess } from './berlin-tpp.fixture.js';

let fixture: TppFixture;
let tpp: BerlinTpp;
beforeAll(async () => {
  fixture = await startForTest();
  tpp = new BerlinTpp(fixture, 'fjordbank');
});
afterAll(() => fixture.close());

/** The accounts of a consent that is made while the fault is on. */
async function accountsWith(fault?: string) {
  if (fault !== undefined) await tpp.control('faults', { bank: 'fjordbank', fault, times: 1 });
  const { consentId } = (await tpp.createConsent(globalAccess, { 'psu-id': 'ada' })).body;
  await tpp.control('decoupled', { bank: 'fjordbank', consentId, decision: 'approve' });
  const { body } = await tpp.read('/v1/accounts', consentId);
  const { body: rows } = await tpp.read(
    `/v1/accounts/${body.accounts[0]!.resourceId}/transactions?bookingStatus=booked&dateFrom=2026-01-01`,
    consentId,
  );
  return { accounts: body.accounts, booked: rows.transactions.booked };
}

it('calls accounts otherwise in a consent, whose rows are the same', async () => {
  const plain = await accountsWith();
  const ids = ({ accounts }: typeof plain) => accounts.map(({ resourceId }) => resourceId);
  const ibans = ({ accounts }: typeof plain) => accounts.map(({ iban }) => iban);
  expect(ids(await accountsWith())).toEqual(ids(plain));
  for (const fault of ['new-account-ids', 'more-account-numbers', 'new-account-numbers']) {
    const other = await accountsWith(fault);
    expect(ids(other).filter((id) => ids(plain).includes(id))).toEqual([]);
    expect(other.booked).toEqual(plain.booked);
    const isRenumbered = fault === 'new-account-numbers';
    expect(ibans(other).filter((iban) => ibans(plain).includes(iban))).toEqual(isRenumbered ? [] : ibans(plain));
    expect(ibans(other).every((iban) => isIban(iban ?? ''))).toBe(true);
    const cards = other.accounts.map((account) => 'maskedPan' in account);
    expect(cards).toEqual(cards.map(() => fault === 'more-account-numbers'));
  }
});
