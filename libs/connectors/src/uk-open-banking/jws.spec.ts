import { createHash } from 'node:crypto';
import { exportJWK, flattenedVerify, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Call, TppCredentials } from '../connector.js';
import { createBankKeys, createSigner, verifySignature } from './jws.js';
import type { UkOpenBankingSettings } from './uk-open-banking.types.js';

const call: Call = { psu: {}, tracingId: 'a'.repeat(32), signal: new AbortController().signal };
const now = () => new Date('2026-11-21T10:00:00Z');
const settings: UkOpenBankingSettings = {
  version: '4.0',
  responseMode: 'fragment',
  jwsB64: false,
  trustAnchor: 'openbanking.org.uk',
  signingKeysUrl: 'https://bank.example/jwks',
  organisationId: 'org/statement',
};
const noKeys = async () => undefined;
const body = Buffer.from('{"Data":{"Amount":"10.50"}}');
const bad = (part: string) => expect.objectContaining({ kind: 'malformed', message: expect.stringContaining(part) });

let credentials: TppCredentials;
let publicKey: JWK;
let otherKey: JWK;

beforeAll(async () => {
  const pair = await generateKeyPair('PS256', { extractable: true });
  const other = await generateKeyPair('PS256', { extractable: true });
  publicKey = { ...(await exportJWK(pair.publicKey)), kid: 'k1' };
  otherKey = { ...(await exportJWK(other.publicKey)), kid: 'k1' };
  credentials = {
    clientId: 'tpp',
    organisationId: 'org',
    softwareStatementId: 'statement',
    redirectUri: 'https://tpp.example/callback',
    signingKey: await exportJWK(pair.privateKey),
    kid: 'k1',
  };
});

const verify = (
  signature: string,
  changes: { body?: Buffer; settings?: UkOpenBankingSettings; key?: JWK; now?: () => Date } = {},
) =>
  verifySignature(
    { signature, body: changes.body ?? body },
    {
      keys: async () => changes.key ?? publicKey,
      settings: changes.settings ?? settings,
      now: changes.now ?? now,
      call,
    },
  );

function headerOf(signature: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(signature.split('.')[0] ?? '', 'base64url').toString()) as Record<string, unknown>;
}

describe('a message signature', () => {
  it('has the form header..signature and the members of v3.1.4 and later', async () => {
    const signature = await createSigner(credentials, { settings, now })(body);
    expect(signature).toMatch(/^[\w-]+\.\.[\w-]+$/);
    expect(headerOf(signature)).toEqual({
      alg: 'PS256',
      kid: 'k1',
      typ: 'JOSE',
      cty: 'application/json',
      'http://openbanking.org.uk/iat': now().getTime() / 1000 - 5,
      'http://openbanking.org.uk/iss': 'org/statement',
      'http://openbanking.org.uk/tan': 'openbanking.org.uk',
      crit: ['http://openbanking.org.uk/iat', 'http://openbanking.org.uk/iss', 'http://openbanking.org.uk/tan'],
    });
  });

  it('covers the base64url of the exact bytes', async () => {
    const [header = '', , signature = ''] = (await createSigner(credentials, { settings, now })(body)).split('.');
    const crit = Object.fromEntries((headerOf(`${header}..`)['crit'] as string[]).map((name) => [name, true]));
    const jws = { protected: header, payload: body.toString('base64url'), signature };
    const { payload } = await flattenedVerify(jws, await importJWK(publicKey, 'PS256'), { crit });
    expect(createHash('sha256').update(payload).digest('hex')).toBe(createHash('sha256').update(body).digest('hex'));
  });

  it.each([false, true])('is taken back by the verifier (b64 rule of old banks: %s)', async (jwsB64) => {
    const rules = { ...settings, jwsB64 };
    const signature = await createSigner(credentials, { settings: rules, now })(body);
    expect('b64' in headerOf(signature)).toBe(jwsB64);
    await expect(verify(signature, { settings: rules })).resolves.toBeUndefined();
    await expect(verify(signature, { settings: { ...settings, jwsB64: !jwsB64 } })).rejects.toEqual(bad('crit'));
  });

  it('is refused over another body, by another key, and without a key', async () => {
    const signature = await createSigner(credentials, { settings, now })(body);
    await expect(verify(signature, { body: Buffer.from('{"Data":{"Amount":"99.50"}}') })).rejects.toEqual(bad('value'));
    await expect(verify(signature, { key: otherKey })).rejects.toEqual(bad('value'));
    await expect(verifySignature({ signature, body }, { keys: noKeys, settings, now, call })).rejects.toEqual(
      bad('kid'),
    );
  });

  it('is refused from another issuer, another trust anchor and from the future', async () => {
    const signature = await createSigner(credentials, { settings, now })(body);
    await expect(verify(signature, { settings: { ...settings, organisationId: 'else' } })).rejects.toEqual(bad('iss'));
    await expect(verify(signature, { settings: { ...settings, trustAnchor: 'else' } })).rejects.toEqual(bad('tan'));
    await expect(verify(signature, { now: () => new Date('2026-11-21T09:50:00Z') })).rejects.toEqual(bad('iat'));
  });

  it.each(['', 'a.b.c', '..', 'e30..x', 'bm90IGpzb24..x', '%..x'])('of the form "%s" is refused', async (signature) => {
    await expect(verify(signature)).rejects.toEqual(bad('signature'));
  });
});

describe('bank keys', () => {
  it('are loaded once, again for an unknown kid after a minute, and again after an hour', async () => {
    let at = now();
    let loads = 0;
    const keys = createBankKeys({
      load: async () => {
        loads += 1;
        return { keys: [publicKey] };
      },
      now: () => at,
    });
    await Promise.all([keys('k1', call), keys('k1', call)]);
    expect(await keys('k1', call)).toBe(publicKey);
    expect(await keys('k2', call)).toBeUndefined();
    expect(loads).toBe(1);
    at = new Date(at.getTime() + 61_000);
    expect(await keys('k2', call)).toBeUndefined();
    expect(loads).toBe(2);
    at = new Date(at.getTime() + 3_600_001);
    await keys('k1', call);
    expect(loads).toBe(3);
  });
});
