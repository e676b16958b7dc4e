import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as client from 'openid-client';
import { startSandbox } from './app.js';
import { readCertificates, readEnv } from './config.js';
import { bankCertificates } from '../../../test/support/certificates.js';
import { registeredTpp, startForTest, TppAtBank } from './tpp.fixture.js';
import { readTpps } from './tpps.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-bank-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('keeps ledger, clock, consents, tokens and keys over a restart', async () => {
  const file = join(folder, 'deep', 'ledger.sqlite');
  const first = await startForTest(file);
  const tpp = new TppAtBank(first, 'meridian');
  const consentId = await tpp.createAccountConsent();
  const tokens = await tpp.authorise(consentId, 'accounts');
  await tpp.control('clock', { advance: 'PT5M' });
  const { offsetMs } = first.sandbox.clock;
  const balance = first.sandbox.ledger.accountsOf('tamar', 'chloe')[0]!.balanceMinor;
  const { url, tlsUrl } = first.sandbox;
  await first.close();

  const second = await startForTest(file, { plain: Number(new URL(url).port), secure: Number(new URL(tlsUrl).port) });
  const { sandbox } = second;
  const again = new TppAtBank(second, 'meridian');
  // The client's pool still holds connections of the first start, and learns of their end one by one.
  await vi.waitFor(() => fetch(`${sandbox.url}/health`), 10_000);
  expect(sandbox.clock.offsetMs).toBe(offsetMs);
  expect(sandbox.ledger.accountsOf('tamar', 'chloe')[0]!.balanceMinor).toBe(balance);
  expect((await again.get('/aisp/accounts', tokens.access_token)).status).toBe(200);
  const renewed = await client.refreshTokenGrant(await again.config(), tokens.refresh_token ?? '');
  expect(renewed.claims()).toMatchObject({ openbanking_intent_id: consentId });
  await second.close();
});

it('has no remote control in production', async () => {
  expect(readEnv({ NODE_ENV: 'production', SANDBOX_TLS_FILE: 'tls.json' }).hasControl).toBe(false);
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    plain: { port: 0 },
    secure: { port: 0, ...bankCertificates },
    file: ':memory:',
    tpps: [],
    hasControl: false,
  });
  const answers = await Promise.all(
    ['state', 'faults', 'calls'].map((path) => fetch(`${sandbox.url}/control/${path}`)),
  );
  expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404]);
  expect((await fetch(`${sandbox.url}/health`)).status).toBe(200);
  await sandbox.close();
});

it('names every faulty variable at once', () => {
  const faulty = {
    SANDBOX_PORT: 'door',
    SANDBOX_URL: 'ftp://bank',
    SANDBOX_TLS_PORT: '-1',
    SANDBOX_TLS_URL: 'http://bank',
  };
  for (const name of [...Object.keys(faulty), 'SANDBOX_TLS_FILE']) expect(() => readEnv(faulty)).toThrow(name);
});

it('says what is wrong with the file of TPPs', async () => {
  const { tpp } = await registeredTpp();
  const faults: [unknown, RegExp][] = [
    [{}, /not a JSON array/],
    [[{ ...tpp, clientId: '' }], /entry 0: clientId/],
    [[{ ...tpp, certificateSubject: undefined }], /entry 0: certificateSubject/],
    [[tpp, { ...tpp, banks: ['lloyd'] }], /entry 1: banks names lloyd/],
    [[{ ...tpp, jwks: { keys: [{ kty: 'RSA', d: 'secret' }] } }], /public keys only/],
  ];
  for (const [content, message] of faults) {
    const file = join(folder, 'tpp.json');
    await writeFile(file, JSON.stringify(content));
    expect(() => readTpps(file)).toThrow(message);
  }
  expect(() => readTpps(join(folder, 'none.json'))).toThrow(/cannot be read/);
});

it('says what is wrong with the file of certificates, and nothing of its content', async () => {
  const file = join(folder, 'tls.json');
  await writeFile(file, JSON.stringify({ ...bankCertificates, ca: undefined }));
  expect(() => readCertificates(file)).toThrow(/^SANDBOX_TLS_FILE lacks certificate, key or ca$/);
  await writeFile(file, '{"key": "sec');
  expect(() => readCertificates(file)).toThrow(/^SANDBOX_TLS_FILE cannot be read$/);
  await writeFile(file, JSON.stringify(bankCertificates));
  expect(readCertificates(file)).toEqual(bankCertificates);
});
