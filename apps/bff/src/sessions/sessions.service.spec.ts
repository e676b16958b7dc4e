import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SignJWT } from 'jose';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';

let bff: TestBff;
let merchant: TestMerchant;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
});
afterAll(() => bff.close());

const list = (as: string, headers: Record<string, string> = {}) => bff.ask('GET /v1/connections', { as, headers });

describe('a session', () => {
  it('makes a reference one customer of one merchant, also when it is opened twice at once', async () => {
    const sessions = await Promise.all([1, 2, 3, 4].map(() => bff.session(merchant, 'same')));
    expect(new Set(sessions.map(({ customerId }) => customerId)).size).toBe(1);
    const other = await bff.merchant('Other Shop');
    expect((await bff.session(other, 'same')).customerId).not.toBe(sessions[0]?.customerId);
  });

  it('opens the customer’s routes and no merchant’s', async () => {
    const { token } = await bff.session(merchant, 'a');
    expect((await list(token)).status).toBe(200);
    expect((await bff.ask('GET /v1/forecast', { as: token })).status).toBe(401);
    expect((await bff.ask('POST /v1/sessions', { as: token, body: { customer: { reference: 'b' } } })).status).toBe(
      401,
    );
  });

  it('ends after half an hour', async () => {
    const { token } = await later(-31 * 60_000, () => bff.session(merchant, 'a'));
    expect((await list(token)).status).toBe(401);
  });

  it('ends also where it was used a moment before', async () => {
    const { token } = await later(-29.5 * 60_000, () => bff.session(merchant, 'a'));
    expect((await list(token)).status).toBe(200);
    expect((await later(45_000, () => list(token))).status).toBe(401);
  });

  it('is not what somebody else has signed, or nobody', async () => {
    const { customerId } = await bff.session(merchant, 'a');
    const claims = new SignJWT({ mid: merchant.id })
      .setSubject(customerId)
      .setIssuer('tributary-bff')
      .setAudience('tributary-bff')
      .setExpirationTime('1h');
    const forged = await claims.setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode('x'.repeat(64)));
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${forged.split('.')[1]}.`;
    for (const token of [forged, unsigned, 'nonsense', 'trb_nonsense']) expect((await list(token)).status).toBe(401);
    expect((await bff.ask('GET /v1/connections')).status).toBe(401);
  });

  it('names the faulty member of a bad request', async () => {
    const answer = await bff.ask('POST /v1/sessions', { as: merchant.apiKey, body: { customer: {} } });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('/customer/reference');
  });
});

describe('an API key', () => {
  it('acts for a customer that it names, and only for the merchant’s own', async () => {
    const { customerId } = await bff.session(merchant, 'a');
    const other = await bff.merchant('Third Shop');
    expect((await list(merchant.apiKey, { 'customer-id': customerId })).status).toBe(200);
    expect((await list(other.apiKey, { 'customer-id': customerId })).status).toBe(404);
    expect((await list(merchant.apiKey)).status).toBe(400);
    expect((await bff.ask('GET /v1/institutions', { as: merchant.apiKey })).status).toBe(200);
    expect((await list(merchant.apiKey, { 'customer-id': 'x' })).status).toBe(400);
  });

  it('is worth nothing once revoked', async () => {
    const gone = await bff.merchant('Gone Shop');
    await bff.db.pool.query('update api_keys set revoked_at = now() where merchant_id = $1', [gone.id]);
    expect((await bff.ask('GET /v1/events', { as: gone.apiKey })).status).toBe(401);
  });
});

describe('a frontend on another origin', () => {
  const preflight = async (at: TestBff, origin: string): Promise<string | undefined> => {
    const headers = {
      origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    };
    const answer = await at.app.inject({ method: 'OPTIONS', url: '/v1/transactions', headers });
    return answer.headers['access-control-allow-origin']?.toString();
  };

  it('passes the preflight in the sandbox', async () => {
    expect(await preflight(bff, 'https://shop.example')).toBe('*');
  });

  it('passes it in production when a merchant has named the origin, and never with credentials', async () => {
    const production = await TestBff.start({ env: { NODE_ENV: 'production' } });
    try {
      const body = {
        name: 'Shop',
        merchantCategoryCode: '5411',
        ppcUserGroup: 'TAX',
        allowedOrigins: ['https://shop.example/any/path'],
      };
      await production.ask('POST /v1/merchants', { as: production.env.OPERATOR_KEY, body });
      expect(await preflight(production, 'https://shop.example')).toBe('https://shop.example');
      expect(await preflight(production, 'https://evil.example')).toBeUndefined();
      const answer = await production.app.inject({
        method: 'GET',
        url: '/v1/accounts',
        headers: { origin: 'https://shop.example' },
      });
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    } finally {
      await production.close();
    }
  });
});
