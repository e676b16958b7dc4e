import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { judge, retrySeconds } from './delivery-state.js';
import type { EndpointList, EndpointView, EndpointWithSecret } from './endpoint.dto.js';

let bff: TestBff;
let merchant: TestMerchant;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
});
afterAll(() => bff.close());

const create = (body: object, as = merchant.apiKey) =>
  bff.ask<EndpointWithSecret>('POST /v1/webhook-endpoints', { as, body });

describe('an endpoint', () => {
  it('shows its secret once, is changed, and deleted', async () => {
    const { body, status } = await create({ url: 'https://shop.example/hook', description: 'Orders' });
    expect(status).toBe(201);
    const { secret, ...shown } = body;
    expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
    const list = await bff.ask<EndpointList>('GET /v1/webhook-endpoints', { as: merchant.apiKey });
    expect(list.body.data).toEqual([shown]);
    const path = `/v1/webhook-endpoints/${body.id}` as const;
    const change = { types: ['payment.failed'], status: 'disabled' };
    const changed = await bff.ask<EndpointView>(`PATCH ${path}`, { as: merchant.apiKey, body: change });
    expect(changed.body).toEqual({ ...shown, ...change, disabledReason: 'by-merchant' });
    const enabled = await bff.ask(`PATCH ${path}`, { as: merchant.apiKey, body: { status: 'enabled' } });
    expect(enabled.body).toEqual({ ...shown, types: ['payment.failed'] });
    expect((await bff.ask(`DELETE ${path}`, { as: merchant.apiKey })).status).toBe(200);
    expect((await bff.ask(`GET ${path}`, { as: merchant.apiKey })).status).toBe(404);
  });

  it('is nobody else’s', async () => {
    const { body } = await create({ url: 'https://shop.example/hook' });
    const other = await bff.merchant('Other Shop');
    const path = `/v1/webhook-endpoints/${body.id}`;
    const calls = [
      `GET ${path}`,
      `PATCH ${path}`,
      `DELETE ${path}`,
      `GET ${path}/deliveries`,
      `POST ${path}/ping`,
      `POST ${path}/rotate-secret`,
    ] as `${string} /${string}`[];
    for (const call of calls) {
      const isRead = call.startsWith('GET');
      expect({
        call,
        status: (await bff.ask(call, { as: other.apiKey, ...(isRead ? {} : { body: {} }) })).status,
      }).toEqual({ call, status: 404 });
    }
    const { token } = await bff.session(merchant, 'ada');
    expect((await bff.ask(calls[0] ?? 'GET /', { as: token })).status).toBe(401);
  });

  it.each([
    ['no address', {}, '/url'],
    ['another protocol', { url: 'ftp://shop.example/' }, '/url'],
    ['credentials', { url: 'https://user:pass@shop.example/' }, '/url'],
    ['a query', { url: 'https://shop.example/?a=1' }, '/url'],
    ['a type that is none', { url: 'https://shop.example/', types: ['payment.failed', 'payment.complete'] }, '/types'],
  ])('is refused with %s', async (_what, body, pointer) => {
    const { status, text } = await create(body);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ issues: [{ pointer: expect.stringContaining(pointer) }] });
  });

  it('is one of ten at most, even when they are made at once', async () => {
    const busy = await bff.merchant(`Busy ${randomUUID().slice(0, 8)}`);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => create({ url: 'https://shop.example/' }, busy.apiKey)),
    );
    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
    expect(statuses).toEqual([...Array<number>(10).fill(201), 409, 409]);
  });
});

describe('in production', () => {
  it.each(['http://shop.example/', 'https://127.0.0.1/', 'https://localhost/', 'https://10.0.0.1/', 'https://[::1]/'])(
    'refuses %s, which is not public',
    async (url) => {
      const env = { NODE_ENV: 'production' };
      const production = await TestBff.start({ env });
      try {
        const { apiKey: as } = await production.merchant();
        expect((await production.ask('POST /v1/webhook-endpoints', { as, body: { url } })).status).toBe(400);
      } finally {
        await production.close();
      }
    },
  );
});

describe('the schedule', () => {
  it('lasts more than three days and then ends', () => {
    expect(retrySeconds.reduce((sum: number, wait) => sum + wait, 0)).toBeGreaterThan(3 * 86_400);
    expect(judge({ httpStatus: 500 }, retrySeconds.length + 1, 0)).toEqual({ status: 'dead', isGone: false });
  });

  it('spreads waits by a fifth and leaves a receiver alone for as long as it asks, up to a day', () => {
    const wait = (outcome: Parameters<typeof judge>[0], random = 0) => judge(outcome, 1, random).waitMs;
    expect([wait({ failure: 'timeout' }), wait({ failure: 'timeout' }, 1)]).toEqual([5_000, 6_000]);
    expect(wait({ httpStatus: 429, retryAfterMs: 60_000 })).toBe(60_000);
    expect(wait({ httpStatus: 503, retryAfterMs: 1_000 })).toBe(5_000);
    expect(wait({ httpStatus: 503, retryAfterMs: 1e12 })).toBe(86_400_000);
  });
});
