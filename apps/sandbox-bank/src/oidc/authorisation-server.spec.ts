import { startForTest, TppAtBank, type TppFixture } from '../tpp.fixture.js';

let fixture: TppFixture;
beforeAll(async () => {
  fixture = await startForTest();
});
afterAll(() => fixture.close());

describe.each(['meridian', 'tamar'] as const)('the authorisation server of %s', (bank) => {
  it('leads a TPP from a consent to account data', async () => {
    const tpp = new TppAtBank(fixture, bank);
    const consentId = await tpp.createAccountConsent();
    const asked = await tpp.authorisationUrl(consentId, 'accounts');
    const callback = await tpp.visit(asked.url);
    const tokens = await tpp.exchange(callback, asked);
    expect(tokens.claims()).toMatchObject({ openbanking_intent_id: consentId, acr: 'urn:openbanking:psd2:sca' });
    expect(tokens.refresh_token).toBeTypeOf('string');
    const accounts = (await (await tpp.get('/aisp/accounts', tokens.access_token)).json()) as {
      Data: { Account: unknown[] };
    };
    expect(accounts.Data.Account).toHaveLength(4);
  });
});
