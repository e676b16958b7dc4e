import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { now } from '#libs/server';
import type { ApiKeyList, CreatedApiKey } from './api-key.dto.js';

let bff: TestBff;
let merchant: TestMerchant;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
});
afterAll(() => bff.close());

const create = (as: string, body: object = {}) => bff.ask<CreatedApiKey>('POST /v1/api-keys', { as, body });
const list = (as: string) => bff.ask<ApiKeyList>('GET /v1/api-keys', { as });
const works = async (as: string): Promise<boolean> => (await list(as)).status === 200;

describe('a merchant’s API keys', () => {
  it('are rotated with an overlap, at whose end the old one is worth nothing', async () => {
    const expiresAt = new Date(now().getTime() + 3_600_000).toISOString();
    const { status, body: made } = await create(merchant.apiKey, { expiresAt });
    expect(status).toBe(201);
    expect(await works(merchant.apiKey)).toBe(true);
    expect(await works(made.apiKey)).toBe(true);
    await later(3_600_001, async () => {
      expect(await works(merchant.apiKey)).toBe(false);
      expect(await works(made.apiKey)).toBe(true);
    });
    merchant = { ...merchant, apiKey: made.apiKey };
  });

  it('are listed with their first characters and last use, and never shown again', async () => {
    const { text, body } = await list(merchant.apiKey);
    expect(text).not.toContain(merchant.apiKey);
    const current = body.data.find((key) => key.current);
    expect(current).toMatchObject({ prefix: merchant.apiKey.slice(0, 8), lastUsedAt: expect.stringContaining('T') });
    expect(body.data).toHaveLength(2);
  });

  it('are revoked at once, save the last that works', async () => {
    const { body: second } = await create(merchant.apiKey);
    expect(await works(second.apiKey)).toBe(true);
    const revoked = await bff.ask(`DELETE /v1/api-keys/${second.id}`, { as: merchant.apiKey });
    expect(revoked.status).toBe(200);
    expect(await works(second.apiKey)).toBe(false);
    const own = (await list(merchant.apiKey)).body.data.find((key) => key.current)?.id ?? '';
    await later(3_600_001, async () => {
      expect((await bff.ask(`DELETE /v1/api-keys/${own}`, { as: merchant.apiKey })).status).toBe(409);
    });
    expect(await works(merchant.apiKey)).toBe(true);
  });

  it('are nobody else’s', async () => {
    const other = await bff.merchant('Other Shop');
    const own = (await list(merchant.apiKey)).body.data[0]?.id ?? '';
    expect((await bff.ask(`DELETE /v1/api-keys/${own}`, { as: other.apiKey })).status).toBe(404);
    const { token } = await bff.session(other, 'c');
    expect((await list(token)).status).toBe(401);
  });

  it('are ten at most', async () => {
    const crowded = await bff.merchant('Crowded Shop');
    for (let made = 1; made < 10; made += 1) expect((await create(crowded.apiKey)).status).toBe(201);
    expect((await create(crowded.apiKey)).status).toBe(409);
  });

  it('end in the future only', async () => {
    const answer = await create(merchant.apiKey, { expiresAt: '2020-01-01T00:00:00Z' });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('"/expiresAt"');
  });

  it('can be made by the operator for a merchant that has lost its own', async () => {
    const route = `POST /v1/merchants/${merchant.id}/api-keys` as const;
    const { body } = await bff.ask<CreatedApiKey>(route, { as: bff.env.OPERATOR_KEY });
    expect(await works(body.apiKey)).toBe(true);
    expect((await bff.ask(route, { as: merchant.apiKey })).status).toBe(401);
  });
});

describe('GET /v1/merchants', () => {
  it('pages through all of them, the oldest first', async () => {
    const names: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 10; pages += 1) {
      const { body } = await bff.ask<{ data: { name: string }[]; nextCursor?: string }>(
        `GET /v1/merchants?limit=1${cursor}`,
        { as: bff.env.OPERATOR_KEY },
      );
      names.push(...body.data.map(({ name }) => name));
      if (body.nextCursor === undefined) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(names).toEqual(['Corner Shop', 'Other Shop', 'Crowded Shop']);
  });
});
