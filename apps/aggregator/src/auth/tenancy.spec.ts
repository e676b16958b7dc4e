import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resetClock, setClock } from '#libs/server';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { ApplicationKeysService, type IssuedKey } from '../applications/application-keys.service.js';

let aggregator: TestAggregator;
let root: IssuedKey;
let shop: IssuedKey;
let sibling: IssuedKey;
let stranger: IssuedKey;

beforeAll(async () => {
  aggregator = await TestAggregator.start();
  root = await aggregator.application('Root');
  shop = await aggregator.application('Shop', root);
  sibling = await aggregator.application('Sibling', root);
  stranger = await aggregator.application('Stranger');
});
afterAll(() => aggregator.close());

async function makeUser(as: IssuedKey, subApplication?: string): Promise<string> {
  const { status, body } = await aggregator.ask<{ uuid: string }>('POST /users', {
    as,
    ...(subApplication ? { subApplication } : {}),
    body: {},
  });
  expect(status).toBe(201);
  return body.uuid;
}

describe('who is asking', () => {
  it('answers a request without credentials in the shape of the older families, with a challenge', async () => {
    const { status, body, headers } = await aggregator.ask<object>('GET /users');
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toMatch(/^Basic realm=/);
    expect(body).toEqual({
      error: { code: 401, status: 'UNAUTHORIZED', message: 'Full authentication is required to access this resource' },
    });
  });

  it('names missing credentials in application management, and counts wrong ones on webhooks', async () => {
    const missing = await aggregator.ask<{ error: { issues: object[] } }>('GET /applications');
    expect(missing.status).toBe(401);
    expect(missing.body.error.issues[0]).toMatchObject({ type: 'CREDENTIALS', code: 'CREDENTIALS_MISSING' });
    const wrong = await aggregator.ask<{ error: { issues: object[] } }>('GET /webhook/events', {
      as: { id: root.id, secret: 'wrong' },
    });
    expect(wrong.status).toBe(401);
    expect(wrong.body.error.issues[0]).toMatchObject({ type: 'CREDENTIALS', code: 10700 });
  });

  it.each([
    ['Basic', 'Basic'],
    ['a text that is no base64', 'Basic %%%'],
    ['another scheme', 'Bearer abc'],
    ['an empty password', `Basic ${Buffer.from(`${randomUUID()}:`).toString('base64')}`],
    ['an id that is no UUID', `Basic ${Buffer.from('shop:secret').toString('base64')}`],
    ['an unknown application', `Basic ${Buffer.from(`${randomUUID()}:secret`).toString('base64')}`],
  ])('refuses %s', async (_what, authorization) => {
    const { status } = await aggregator.ask('GET /users', { headers: { authorization } });
    expect(status).toBe(401);
  });

  it('refuses the secret of one application under the id of another', async () => {
    expect((await aggregator.ask('GET /users', { as: { id: shop.id, secret: root.secret } })).status).toBe(401);
  });

  it('refuses a secret with something after it', async () => {
    const longer = { ...root, secret: `${root.secret}:more` };
    expect((await aggregator.ask('GET /users', { as: longer })).status).toBe(401);
  });

  it('takes an id in capitals', async () => {
    expect((await aggregator.ask('GET /users', { as: { ...root, id: root.id.toUpperCase() } })).status).toBe(200);
  });

  it('takes the old secret during the overlap of a rotation and not after it', async () => {
    const owner = await aggregator.application('Rotating');
    const rotated = await aggregator.get(ApplicationKeysService).rotate(owner.id, 3_600);
    expect((await aggregator.ask('GET /users', { as: owner })).status).toBe(200);
    expect((await aggregator.ask('GET /users', { as: rotated })).status).toBe(200);
    const later = new Date(Date.parse('2099-01-01T00:00:00Z'));
    setClock(() => later);
    try {
      expect((await aggregator.ask('GET /users', { as: owner })).status).toBe(401);
      expect((await aggregator.ask('GET /users', { as: rotated })).status).toBe(200);
    } finally {
      resetClock();
    }
  });
});

describe('the sub-application header', () => {
  it('lets a root act for its own sub-application', async () => {
    const uuid = await makeUser(root, shop.id);
    const { body } = await aggregator.ask<{ applicationUuid: string }>(`GET /users/${uuid}`, { as: shop });
    expect(body.applicationUuid).toBe(shop.id);
  });

  it.each([
    ['a sub-application of another root', () => ({ as: stranger, subApplication: shop.id })],
    ['another root', () => ({ as: root, subApplication: stranger.id })],
    ['a sibling', () => ({ as: shop, subApplication: sibling.id })],
    ['its own root', () => ({ as: shop, subApplication: root.id })],
    ['an unknown application', () => ({ as: root, subApplication: randomUUID() })],
  ])('refuses %s with 403', async (_whom, asking) => {
    expect((await aggregator.ask('GET /users', asking())).status).toBe(403);
    expect((await aggregator.ask('POST /users', { ...asking(), body: {} })).status).toBe(403);
  });

  it('refuses what is no UUID with 400, naming the header', async () => {
    const { status, body } = await aggregator.ask<{ error: { issues: { parameter: string }[] } }>('GET /users', {
      as: root,
      subApplication: 'shop',
    });
    expect(status).toBe(400);
    expect(body.error.issues[0]?.parameter).toBe('sub-application');
  });

  it('lets a sub-application name itself', async () => {
    expect((await aggregator.ask('GET /users', { as: shop, subApplication: shop.id })).status).toBe(200);
  });

  it('is authorised on every call: a deleted sub-application is refused at once', async () => {
    const gone = await aggregator.application('Gone', root);
    expect((await aggregator.ask('GET /users', { as: root, subApplication: gone.id })).status).toBe(200);
    expect((await aggregator.ask(`DELETE /applications/${gone.id}`, { as: root })).status).toBe(204);
    expect((await aggregator.ask('GET /users', { as: root, subApplication: gone.id })).status).toBe(403);
    expect((await aggregator.ask('GET /users', { as: gone })).status).toBe(401);
  });
});

describe('isolation', () => {
  const webhook = (applicationId: string) => ({
    applicationId,
    categories: ['payment.state.success'],
    callbackUrl: { main: { url: 'https://shop.example/hook' } },
  });

  it('shows a user to its application and its root, and to nobody else', async () => {
    const uuid = await makeUser(shop);
    const see = async (as: IssuedKey, subApplication?: string) =>
      (await aggregator.ask(`GET /users/${uuid}`, { as, ...(subApplication ? { subApplication } : {}) })).status;
    expect(await see(shop)).toBe(200);
    expect(await see(root)).toBe(200);
    expect(await see(root, shop.id)).toBe(200);
    expect(await see(root, sibling.id)).toBe(404);
    expect(await see(sibling)).toBe(404);
    expect(await see(stranger)).toBe(404);
  });

  it('neither changes nor deletes a foreign user', async () => {
    const uuid = await makeUser(shop);
    for (const as of [sibling, stranger]) {
      const patch = { as, body: [{ path: '/referenceId', value: 'mine' }] };
      expect((await aggregator.ask(`PATCH /users/${uuid}`, patch)).status).toBe(404);
      expect((await aggregator.ask(`DELETE /users/${uuid}`, { as })).status).toBe(404);
    }
    const { body } = await aggregator.ask<{ referenceId?: string }>(`GET /users/${uuid}`, { as: shop });
    expect(body.referenceId).toBeUndefined();
  });

  it('lists only the users in reach', async () => {
    const uuid = await makeUser(shop);
    const ids = async (as: IssuedKey) =>
      (await aggregator.ask<{ uuid: string }[]>('GET /users', { as })).body.map((user) => user.uuid);
    expect(await ids(root)).toContain(uuid);
    expect(await ids(sibling)).not.toContain(uuid);
    expect(await ids(stranger)).not.toContain(uuid);
  });

  it('keeps the webhooks of each application to itself, even from its root', async () => {
    const registered = await aggregator.ask<{ data: { id: string } }>('POST /webhook/events', {
      as: shop,
      body: webhook(shop.id),
    });
    expect(registered.status).toBe(201);
    const { id } = registered.body.data;
    for (const as of [root, sibling, stranger]) {
      const list = await aggregator.ask<{ data: { active: { id: string }[] } }>('GET /webhook/events', { as });
      expect(list.body.data.active.map((each) => each.id)).not.toContain(id);
      expect((await aggregator.ask(`DELETE /webhook/events/${id}`, { as })).status).toBe(404);
    }
    expect((await aggregator.ask(`DELETE /webhook/events/${id}`, { as: root, subApplication: shop.id })).status).toBe(
      200,
    );
  });

  it('tells a foreign application from an unknown one, and gives neither', async () => {
    expect((await aggregator.ask(`GET /applications/${shop.id}`, { as: root })).status).toBe(200);
    expect((await aggregator.ask(`GET /applications/${shop.id}`, { as: shop })).status).toBe(200);
    expect((await aggregator.ask(`GET /applications/${shop.id}`, { as: stranger })).status).toBe(403);
    expect((await aggregator.ask(`GET /applications/${shop.id}`, { as: sibling })).status).toBe(403);
    expect((await aggregator.ask(`GET /applications/${root.id}`, { as: shop })).status).toBe(403);
    expect((await aggregator.ask(`GET /applications/${randomUUID()}`, { as: root })).status).toBe(404);
  });

  it('lets only the root manage applications', async () => {
    const body = { name: 'New', merchantCategoryCode: '5411', ppcUserGroup: 'COMMERCIAL', isContractPresent: true };
    expect((await aggregator.ask('POST /applications', { as: shop, body })).status).toBe(403);
    expect((await aggregator.ask(`PUT /applications/${shop.id}`, { as: shop, body })).status).toBe(403);
    expect((await aggregator.ask(`PUT /applications/${shop.id}`, { as: stranger, body })).status).toBe(403);
    expect((await aggregator.ask(`DELETE /applications/${shop.id}`, { as: shop })).status).toBe(403);
    expect((await aggregator.ask(`DELETE /applications/${shop.id}`, { as: stranger })).status).toBe(403);
    expect((await aggregator.ask(`DELETE /applications/${root.id}`, { as: root })).status).toBe(403);
    expect((await aggregator.ask<{ data: object[] }>('GET /applications', { as: shop })).body.data).toEqual([]);
  });
});
