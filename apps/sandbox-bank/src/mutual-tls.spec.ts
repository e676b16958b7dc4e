import { randomUUID } from 'node:crypto';
import { connect } from 'node:tls';
import * as client from 'openid-client';
import { makeAuthority } from '../../stack/src/certificates.js';
import { bankCertificates, makeTransport, tppSubject } from '../../../test/support/certificates.js';
import { ukBanks } from './banks.js';
import { BerlinTpp } from './berlin-group/berlin-tpp.fixture.js';
import { fetchUnder, startForTest, TppAtBank, type TppFixture } from './tpp.fixture.js';

let fixture: TppFixture;
const opened: { close(): Promise<void> }[] = [];
/** The TPP with another certificate, or with none. */
const showing = (shown: Parameters<typeof fetchUnder>[0]): TppFixture => {
  const under = fetchUnder(shown);
  opened.push(under);
  return { ...fixture, fetch: under.fetch };
};
const certificates = {
  none: {},
  foreign: makeTransport(tppSubject, { authority: makeAuthority({ commonName: 'Elsewhere' }) }),
  expired: makeTransport(tppSubject, { fromDay: -30, untilDay: -1 }),
  stranger: makeTransport({ organisationIdentifier: 'PSDFR-ACPR-12345', commonName: 'stranger' }),
  server: bankCertificates,
  renewed: makeTransport(),
};

beforeAll(async () => {
  fixture = await startForTest();
});
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()));
  await fixture.close();
});

describe('a UK bank', () => {
  it.each(ukBanks.map(({ id }) => id as TppAtBank['bank']))(
    'gives nobody a token without a certificate (%s)',
    async (bank) => {
      for (const [name, word] of [
        ['none', 'missing'],
        ['foreign', 'invalid'],
        ['expired', 'expired'],
        ['server', 'invalid'],
      ] as const) {
        const refused = new TppAtBank(showing(certificates[name]), bank).clientToken('accounts');
        await expect(refused).rejects.toMatchObject({
          status: 401,
          error: 'invalid_client',
          error_description: `the client certificate is ${word}`,
        });
      }
    },
  );

  it('takes no token on the port of the pages either', async () => {
    const tpp = new TppAtBank(fixture, 'meridian');
    const token = await tpp.clientToken('accounts');
    const answers = await Promise.all(
      ['/token', '/me', '/open-banking/v4.0/aisp/accounts'].map((path) =>
        fetch(`${tpp.issuer}${path}`, {
          method: path === '/token' ? 'POST' : 'GET',
          headers: { authorization: `Bearer ${token}` },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(answers[1]!.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
  });

  it('that goes by the certificate alone knows its TPPs by their subjects', async () => {
    const { access_token } = await client.clientCredentialsGrant(await new TppAtBank(fixture, 'tamar').config(), {
      scope: 'accounts',
    });
    expect(access_token).not.toBe('');
    const stranger = new TppAtBank(showing(certificates.stranger), 'tamar').clientToken('accounts');
    await expect(stranger).rejects.toMatchObject({ status: 401, error: 'invalid_client' });
  });

  it.each(['meridian', 'tamar', 'thistle'] as const)(
    'binds its tokens, unless it is known not to (%s)',
    async (bank) => {
      const ours = new TppAtBank(fixture, bank);
      const consentId = await ours.createAccountConsent();
      const { access_token, refresh_token = '' } = await ours.authorise(consentId, 'accounts');
      const clientToken = await ours.clientToken('accounts');
      const isBound = bank !== 'thistle';
      for (const name of ['stranger', 'renewed'] as const) {
        const other = new TppAtBank(showing(certificates[name]), bank);
        const answers = [
          await other.get('/aisp/accounts', access_token),
          await other.get(`/aisp/account-access-consents/${consentId}`, clientToken),
          await other.get(`${fixture.sandbox.tlsUrl}/banks/${bank}/me`, access_token),
        ];
        expect(answers.map(({ status }) => status)).toEqual(isBound ? [401, 401, 401] : [200, 200, 200]);
      }
      // The new certificate gets tokens of its own for the old refresh token, and then the old one is useless.
      const renewed = new TppAtBank(showing(certificates.renewed), bank);
      const tokens = await client.refreshTokenGrant(await renewed.config(), refresh_token);
      expect((await renewed.get('/aisp/accounts', tokens.access_token)).status).toBe(200);
      expect((await ours.get('/aisp/accounts', tokens.access_token)).status).toBe(isBound ? 401 : 200);
    },
  );

  it('says where it takes certificates, and how', async () => {
    for (const { id, clientAuthentication } of ukBanks) {
      const metadata = (await new TppAtBank(fixture, id as TppAtBank['bank']).config()).serverMetadata();
      const below = `${fixture.sandbox.tlsUrl}/banks/${id}`;
      expect(metadata.issuer).toBe(`${fixture.sandbox.url}/banks/${id}`);
      expect(metadata.token_endpoint_auth_methods_supported).toEqual([clientAuthentication]);
      expect(metadata.mtls_endpoint_aliases).toEqual({
        token_endpoint: `${below}/token`,
        revocation_endpoint: `${below}/token/revocation`,
        userinfo_endpoint: `${below}/me`,
      });
    }
  });

  it('plays no fault to whom it refuses, and remembers the call', async () => {
    const tpp = new TppAtBank(fixture, 'meridian');
    const token = await tpp.clientToken('accounts');
    await tpp.control('faults', { bank: 'meridian', route: 'GET /aisp/accounts', fault: '503', times: 1 });
    const stranger = new TppAtBank(showing({}), 'meridian');
    expect((await stranger.get('/aisp/accounts', token)).status).toBe(401);
    expect((await tpp.get('/aisp/accounts', token)).status).toBe(503);
    const { calls } = (await (await fetch(`${fixture.sandbox.url}/control/calls`)).json()) as { calls: object[] };
    expect(calls.at(-2)).toMatchObject({ bank: 'meridian', route: 'GET /aisp/accounts', status: 401 });
  });
});

describe('a Berlin Group bank', () => {
  it.each([
    ['none', 'CERTIFICATE_MISSING'],
    ['foreign', 'CERTIFICATE_INVALID'],
    ['expired', 'CERTIFICATE_EXPIRED'],
    ['stranger', 'CERTIFICATE_INVALID'],
    ['server', 'CERTIFICATE_INVALID'],
  ] as const)('refuses a TPP by its certificate (%s)', async (name, code) => {
    const { status, body } = await new BerlinTpp(showing(certificates[name]), 'lindenhof').createConsent();
    expect({ status, code: body.tppMessages[0]?.code }).toEqual({ status: 401, code });
  });

  it('knows the TPP by its organizationIdentifier, whichever certificate says so', async () => {
    const { body } = await new BerlinTpp(fixture, 'lindenhof').createConsent();
    const path = `/v1/consents/${body.consentId}/status`;
    const renewed = await new BerlinTpp(showing(certificates.renewed), 'lindenhof').call('GET', path);
    expect(renewed).toMatchObject({ status: 200, body: { consentStatus: 'received' } });
  });

  it('has nothing for TPPs on the port of the pages', async () => {
    const answer = await fetch(`${fixture.sandbox.url}/banks/lindenhof/v1/accounts`, {
      headers: { 'x-request-id': randomUUID() },
    });
    expect(answer.status).toBe(401);
    expect(await answer.text()).toContain('CERTIFICATE_MISSING');
  });
});

describe('the port of the TPPs', () => {
  it('has no pages, no metadata and no remote control', async () => {
    const { sandbox } = fixture;
    const paths = [
      '/',
      '/health',
      '/control/state',
      '/banks/meridian/auth',
      '/banks/meridian/jwks',
      '/banks/fjordbank/device',
    ];
    const statuses = await Promise.all(
      paths.map(async (path) => (await fixture.fetch(`${sandbox.tlsUrl}${path}`)).status),
    );
    expect(statuses).toEqual(paths.map(() => 404));
  });

  it('knows again whose handshake it resumes', async () => {
    const { hostname: host, port } = new URL(fixture.sandbox.tlsUrl);
    const { certificate: cert, key, ca } = certificates.renewed;
    const options = { host, port: Number(port), servername: host, cert, key, ca };
    const path = `/banks/lindenhof/v1/consents/${randomUUID()}/status`;
    const ask = (session?: Buffer): Promise<{ answer: string; session: Buffer; isResumed: boolean }> =>
      new Promise((resolve, reject) => {
        const socket = connect({ ...options, ...(session && { session }) }, () =>
          socket.write(
            `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-request-id: ${randomUUID()}\r\nconnection: close\r\n\r\n`,
          ),
        );
        let answer = '';
        let ticket: Buffer = Buffer.alloc(0);
        socket.on('session', (given: Buffer) => (ticket = given));
        socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
        socket.on('error', reject);
        socket.on('end', () => resolve({ answer, session: ticket, isResumed: socket.isSessionReused() }));
      });
    const first = await ask();
    const second = await ask(first.session);
    expect([first.isResumed, second.isResumed]).toEqual([false, true]);
    for (const { answer } of [first, second]) expect(answer).toContain('CONSENT_UNKNOWN');
  });

  it('is believed only by who trusts its authority', async () => {
    const { ca: _ours, ...certificate } = certificates.renewed;
    const doubting = showing({ ...certificate, ca: makeAuthority({ commonName: 'Elsewhere' }).certificate });
    await expect(doubting.fetch(`${fixture.sandbox.tlsUrl}/banks/meridian/me`)).rejects.toThrow('fetch failed');
  });
});
