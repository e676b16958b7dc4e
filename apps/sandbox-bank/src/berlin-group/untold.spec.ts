import { startForTest, type TppFixture } from '../tpp.fixture.js';
import { BerlinTpp, globalAccess, type BerlinAnswer } from './berlin-tpp.fixture.js';

let fixture: TppFixture;
beforeAll(async () => {
  fixture = await startForTest();
});
afterAll(() => fixture.close());

const attended = { 'psu-ip-address': '192.0.2.7' };
const rows = 'bookingStatus=both&dateFrom=2026-01-01&withBalance=true';
const refusal = ({ status, body }: BerlinAnswer) => [status, body.code ?? body.tppMessages[0]!.code];

describe('what a bank does not tell', () => {
  it('is balances at one, whatever they are asked by', async () => {
    const tpp = new BerlinTpp(fixture, 'fjordbank');
    const { consentId } = (await tpp.createConsent(globalAccess, { 'psu-id': 'ada' })).body;
    await tpp.control('decoupled', { bank: 'fjordbank', consentId, decision: 'approve' });
    const [account] = (await tpp.read('/v1/accounts?withBalance=true', consentId, attended)).body.accounts;
    expect(Object.keys(account!._links)).toEqual(['transactions']);
    const path = `/v1/accounts/${account!.resourceId}`;
    expect(refusal(await tpp.read(`${path}/balances`, consentId, attended))).toEqual([405, 'SERVICE_INVALID']);
    const { body } = await tpp.read(`${path}/transactions?${rows}`, consentId, attended);
    expect(body.transactions.booked.length).toBeGreaterThan(0);
    expect(body).not.toHaveProperty('balances');
    const dedicated = await tpp.createConsent({ balances: [{ iban: account!.iban }] }, { 'psu-id': 'ada' });
    expect(refusal(dedicated)).toEqual([400, 'SERVICE_INVALID']);
  });

  it('is transactions at another, which tells each balance by itself', async () => {
    const tpp = new BerlinTpp(fixture, 'ticino');
    const consent = await tpp.createConsent();
    const { consentId } = consent.body;
    for (const persona of ['ada', 'ben']) {
      const begun = await tpp.call('POST', consent.body._links['startAuthorisation']!.href);
      await tpp.visit(begun.body._links['scaRedirect']!.href, { persona });
    }
    const [account] = (await tpp.read('/v1/accounts?withBalance=true', consentId, attended)).body.accounts;
    expect(account).not.toHaveProperty('balances');
    expect(Object.keys(account!._links)).toEqual(['balances']);
    const path = `/v1/accounts/${account!.resourceId}`;
    expect((await tpp.read(`${path}/balances`, consentId, attended)).body.balances.length).toBeGreaterThan(0);
    for (const below of [`?${rows}`, '/t-1']) {
      const refused = await tpp.read(`${path}/transactions${below}`, consentId, attended);
      expect(refusal(refused)).toEqual([405, 'SERVICE_INVALID']);
    }
    const dedicated = await tpp.createConsent({ transactions: [{ iban: account!.iban }] });
    expect(refusal(dedicated)).toEqual([400, 'SERVICE_INVALID']);
  });
});
