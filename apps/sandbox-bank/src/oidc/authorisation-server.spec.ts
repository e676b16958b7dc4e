import * as client from 'openid-client';
import { redirectUri, startForTest, TppAtBank, type TppFixture } from '../tpp.fixture.js';

let fixture: TppFixture;
beforeAll(async () => {
  fixture = await startForTest();
});
afterAll(() => fixture.close());

describe.each([
  { bank: 'meridian', refreshDays: 90 },
  { bank: 'tamar', refreshDays: 1_825 },
] as const)('the authorisation server of $bank', ({ bank, refreshDays }) => {
  const at = (): TppAtBank => new TppAtBank(fixture, bank);

  it('leads a TPP from a consent to account data', async () => {
    const tpp = at();
    const consentId = await tpp.createAccountConsent();
    const asked = await tpp.authorisationUrl(consentId, 'accounts');
    const callback = await tpp.visit(asked.url);
    expect(callback.href.startsWith(redirectUri)).toBe(true);
    expect(callback.hash === '').toBe(bank === 'tamar');
    const tokens = await tpp.exchange(callback, asked);
    const ends = fixture.sandbox.clock.now() / 1000 + refreshDays * 86_400;
    expect(tokens.claims()).toMatchObject({ openbanking_intent_id: consentId, acr: 'urn:openbanking:psd2:sca' });
    expect(Number(tokens.claims()?.['http://openbanking.org.uk/refresh_token_expires_at'])).toBeCloseTo(ends, -2);
    expect((await tpp.get('/aisp/accounts', tokens.access_token)).status).toBe(200);
  });

  it('takes a code once', async () => {
    const tpp = at();
    const asked = await tpp.authorisationUrl(await tpp.createAccountConsent(), 'accounts');
    const callback = await tpp.visit(asked.url);
    const { access_token } = await tpp.exchange(callback, asked);
    await expect(tpp.exchange(callback, asked)).rejects.toMatchObject({ error: 'invalid_grant' });
    // A code that comes twice has leaked, so what it gave is taken back (RFC 6749, section 4.1.2).
    expect((await tpp.get('/aisp/accounts', access_token)).status).toBe(401);
  });

  it('ends access tokens by the bank’s clock, and refreshes them as long as the bank does', async () => {
    const tpp = at();
    const { access_token, refresh_token = '' } = await tpp.authorise(await tpp.createAccountConsent(), 'accounts');
    await tpp.control('clock', { advance: 'PT11M' });
    expect((await tpp.get('/aisp/accounts', access_token)).status).toBe(401);
    const renewed = await client.refreshTokenGrant(await tpp.config(), refresh_token);
    expect((await tpp.get('/aisp/accounts', renewed.access_token)).status).toBe(200);
    const next = renewed.refresh_token ?? refresh_token;
    expect(next !== refresh_token).toBe(bank === 'meridian');
    await tpp.control('clock', { advance: `P${refreshDays - 1}D` });
    const { refresh_token: last = next } = await client.refreshTokenGrant(await tpp.config(), next);
    await tpp.control('clock', { advance: 'P1D' });
    await expect(client.refreshTokenGrant(await tpp.config(), last)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('ends earlier tokens when the consent is authorised again', async () => {
    const tpp = at();
    const consentId = await tpp.createAccountConsent();
    const first = await tpp.authorise(consentId, 'accounts');
    const second = await tpp.authorise(consentId, 'accounts', { accounts: ['Everyday'] });
    expect((await tpp.get('/aisp/accounts', first.access_token)).status).toBe(401);
    const seen = (await (await tpp.get('/aisp/accounts', second.access_token)).json()) as {
      Data: { Account: unknown[] };
    };
    expect(seen.Data.Account).toHaveLength(1);
  });

  it('forgets a revoked token', async () => {
    const tpp = at();
    const { access_token, refresh_token = '' } = await tpp.authorise(await tpp.createAccountConsent(), 'accounts');
    await client.tokenRevocation(await tpp.config(), refresh_token);
    expect((await tpp.get('/aisp/accounts', access_token)).status).toBe(401);
  });

  it('refuses a request that is not signed, and a consent that is not there', async () => {
    const tpp = at();
    const bare = new URL((await tpp.config()).serverMetadata().authorization_endpoint ?? '');
    bare.search = new URLSearchParams({
      client_id: fixture.tpp.clientId,
      response_type: bank === 'meridian' ? 'code id_token' : 'code',
      redirect_uri: redirectUri,
      scope: 'openid accounts',
      nonce: 'n',
    }).toString();
    expect((await tpp.visit(bare)).href).toContain('error=');
    const unknown = await tpp.authorisationUrl('aac-nobody', 'accounts');
    await expect(tpp.exchange(await tpp.visit(unknown.url), unknown)).rejects.toMatchObject({
      error: 'invalid_request',
    });
  });

  it('refuses to authorise a payment under the scope of accounts', async () => {
    const tpp = at();
    const asked = await tpp.authorisationUrl(await tpp.createAccountConsent(), 'payments');
    await expect(tpp.exchange(await tpp.visit(asked.url), asked)).rejects.toMatchObject({ error: 'invalid_request' });
  });
});

it('burns a rotating refresh token even when its answer is lost', async () => {
  const tpp = new TppAtBank(fixture, 'meridian');
  const { refresh_token = '' } = await tpp.authorise(await tpp.createAccountConsent(), 'accounts');
  await tpp.control('faults', { bank: 'meridian', route: 'POST /token', fault: 'token-500', times: 1 });
  const config = await tpp.config();
  await expect(client.refreshTokenGrant(config, refresh_token)).rejects.toMatchObject({ cause: { status: 500 } });
  await expect(client.refreshTokenGrant(config, refresh_token)).rejects.toMatchObject({ error: 'invalid_grant' });
});

it('keeps introspection to itself', async () => {
  const metadata = (await new TppAtBank(fixture, 'meridian').config()).serverMetadata();
  expect(metadata.introspection_endpoint).toBeUndefined();
  expect(metadata.token_endpoint_auth_methods_supported).toEqual(['private_key_jwt']);
});
