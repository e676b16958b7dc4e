import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/receiver.js';
import { hasRedis, startRedis } from '../../../../test/support/redis.js';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { Env } from '../config.js';
import { RateLimits } from './rate-limits.js';

let bff: TestBff;
let merchant: TestMerchant;

beforeAll(async () => {
  bff = await TestBff.start({ env: { RATE_LIMIT_API_KEY: 6, RATE_LIMIT_SESSION: 3 } });
  merchant = await bff.merchant();
});
afterAll(() => bff.close());

const accounts = (as: string) => bff.ask('GET /v1/accounts', { as });

describe('the rate limit', () => {
  it('tells a customer’s sessions where they stand, and refuses what is too much with the time to wait', async () => {
    const [one, two] = [await bff.session(merchant, 'ada'), await bff.session(merchant, 'ada')];
    const first = await accounts(one.token);
    expect(first.status).toBe(200);
    expect(first.headers['ratelimit-policy']).toBe('"session";q=3;w=60');
    expect(first.headers['ratelimit']).toMatch(/^"session";r=2;t=\d+$/);
    expect((await accounts(two.token)).status).toBe(200);
    expect((await accounts(one.token)).headers['ratelimit']).toMatch(/^"session";r=0;t=\d+$/);
    const refused = await accounts(two.token);
    expect(refused.status).toBe(429);
    expect(refused.headers['content-type']).toBe('application/problem+json');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  it('counts each API key by itself', async () => {
    const other = await bff.merchant('Other Shop');
    const statuses: number[] = [];
    for (let calls = 0; calls < 8; calls += 1) {
      statuses.push((await bff.ask('GET /v1/events', { as: other.apiKey })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
    expect((await bff.ask('GET /v1/events', { as: merchant.apiKey })).status).toBe(200);
  });
});

describe.runIf(hasRedis())('on a Redis', () => {
  it('is one for all processes, and goes on without it', async () => {
    const redis = await startRedis();
    const env = Object.assign(new Env(), { REDIS_URL: redis.url, RATE_LIMIT_SESSION: 3 });
    const processes = [new RateLimits(env), new RateLimits(env)];
    const caller = { kind: 'session', merchantId: 'm', customerId: 'c' } as const;
    const count = async (): Promise<(number | undefined)[]> => {
      const standings = [];
      for (const each of processes) standings.push((await each.count(caller)).retryAfter);
      return standings;
    };
    try {
      await until(() => processes.every((each) => each.isShared));
      expect(await count()).toEqual([undefined, undefined]);
      expect(await count()).toEqual([undefined, expect.any(Number)]);
      await redis.stop();
      await until(() => processes.every((each) => !each.isShared));
      const stranger = { ...caller, customerId: 'd' };
      for (const each of processes) expect((await each.count(stranger)).retryAfter).toBeUndefined();
    } finally {
      for (const each of processes) each.onApplicationShutdown();
      await redis.stop();
    }
  });
});
