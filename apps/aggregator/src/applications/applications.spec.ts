import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiListOfApplicationResponse, ApplicationResponse } from '#libs/contract';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import type { IssuedKey } from './application-keys.service.js';

const body = {
  name: 'Corner Shop [1]',
  merchantCategoryCode: '5411',
  ppcUserGroup: 'CONSUMER_GOODS_SERVICES',
  callbackUrls: ['https://shop.example/back'],
  isContractPresent: true,
};

let aggregator: TestAggregator;
let root: IssuedKey;

beforeAll(async () => {
  aggregator = await TestAggregator.start();
  root = await aggregator.application('Root');
});
afterAll(() => aggregator.close());

describe('POST /applications', () => {
  it('makes a sub-application of the caller', async () => {
    const { status, body: made } = await aggregator.ask<{ data: ApplicationResponse; meta: { tracingId: string } }>(
      'POST /applications',
      { as: root, body },
    );
    expect(status).toBe(201);
    expectShape(ApplicationResponse, made.data);
    expect(made.data).toEqual({
      ...body,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      rootApplicationId: root.id,
      merchantCategoryCode: 5411,
    });
    expect(made.meta.tracingId).toMatch(/^[0-9a-f]{32}$/);
  });

  it('takes the category code as a number, as the interface shows it', async () => {
    const asked = { as: root, body: { ...body, merchantCategoryCode: 742 } };
    const { body: made } = await aggregator.ask<{ data: ApplicationResponse }>('POST /applications', asked);
    expect(made.data.merchantCategoryCode).toBe(742);
  });

  it.each(['0741', 9951, '5410', 12345])('refuses %j, which is no category of ISO 18245', async (code) => {
    const asked = { as: root, body: { ...body, merchantCategoryCode: code } };
    const { status, body: refusal } = await aggregator.ask<object>('POST /applications', asked);
    expect([status, refusal]).toEqual([
      400,
      { errors: [{ fieldName: 'merchantCategoryCode', error: 'INVALID_FORMAT' }] },
    ]);
  });

  it('lists every faulty member, and writes nothing', async () => {
    const before = await aggregator.ask<ApiListOfApplicationResponse>('GET /applications', { as: root });
    const { status, body: refusal } = await aggregator.ask<object>('POST /applications', {
      as: root,
      body: { name: 'no/slash', merchantCategoryCode: '54', ppcUserGroup: 'SHOPS', callbackUrls: ['not a url'] },
    });
    expect(status).toBe(400);
    expect(refusal).toEqual({
      errors: expect.arrayContaining([
        { fieldName: 'name', error: 'INVALID_FORMAT' },
        { fieldName: 'merchantCategoryCode', error: 'INVALID_FORMAT' },
        { fieldName: 'ppcUserGroup', error: 'INVALID_FORMAT' },
        { fieldName: 'callbackUrls', error: 'INVALID_FORMAT' },
        { fieldName: 'isContractPresent', error: 'MANDATORY' },
      ]),
    });
    const after = await aggregator.ask<ApiListOfApplicationResponse>('GET /applications', { as: root });
    expect(after.body.meta.count).toBe(before.body.meta.count);
  });

  it.each(['{', '[]', '"text"', 'null'])('refuses the body %s', async (text) => {
    expect((await aggregator.ask('POST /applications', { as: root, body: text })).status).toBe(400);
  });
});

describe('GET /applications', () => {
  let owner: IssuedKey;
  let ids: string[];
  const list = async (query: string) =>
    (await aggregator.ask<ApiListOfApplicationResponse>(`GET /applications${query}`, { as: owner })).body;

  beforeAll(async () => {
    owner = await aggregator.application('Owner');
    ids = [];
    for (const name of ['B', 'A', 'C']) {
      const asked = { as: owner, body: { ...body, name } };
      const made = await aggregator.ask<{ data: ApplicationResponse }>('POST /applications', asked);
      ids.push(made.body.data.id);
    }
  });

  it('pages by offset and counts them all', async () => {
    const page = await list('?limit=2&offset=1');
    expectShape(ApiListOfApplicationResponse, page);
    const { meta, data } = page;
    expect(data.map(({ name }) => name)).toEqual(['B', 'C']);
    expect(meta).toMatchObject({
      count: 2,
      pagination: { totalCount: 3, self: { limit: 2, offset: 1, sort: 'name' } },
    });
  });

  it.each([
    ['', 'ABC'],
    ['?sort=-name', 'CBA'],
    ['?sort=last_updated', 'BAC'],
    ['?sort=-last_updated', 'CAB'],
  ])('sorts %s', async (query, names) => {
    expect((await list(query)).data.map(({ name }) => name).join('')).toBe(names);
  });

  it('finds by ids and passes over unknown ones', async () => {
    const { data } = await list(`?applicationIds=${ids[0]}&applicationIds=${root.id}`);
    expect(data.map(({ id }) => id)).toEqual([ids[0]]);
  });

  it.each(['limit=0', 'limit=1001', 'offset=-1', 'sort=age', 'applicationIds=1'])('refuses ?%s', async (query) => {
    const { status, body: refusal } = await aggregator.ask<object>(`GET /applications?${query}`, { as: owner });
    expect(status).toBe(400);
    expect(refusal).toEqual({ errors: [{ fieldName: query.split('=')[0], error: 'INVALID_FORMAT' }] });
  });

  it('refuses more than fifteen ids', async () => {
    const query = Array.from({ length: 16 }, () => `applicationIds=${ids[0]}`).join('&');
    expect((await aggregator.ask(`GET /applications?${query}`, { as: owner })).status).toBe(400);
  });
});

describe('one sub-application', () => {
  it('is replaced by PUT, which needs the whole body', async () => {
    const made = await aggregator.ask<{ data: ApplicationResponse }>('POST /applications', { as: root, body });
    const { id } = made.body.data;
    const { callbackUrls: _left, ...rest } = body;
    const put = await aggregator.ask<{ data: ApplicationResponse }>(`PUT /applications/${id}`, {
      as: root,
      body: { ...rest, name: 'Renamed' },
    });
    expect(put.status).toBe(200);
    expect(put.body.data).toMatchObject({ id, name: 'Renamed', callbackUrls: [] });
    expect((await aggregator.ask(`PUT /applications/${id}`, { as: root, body: { name: 'Only' } })).status).toBe(400);
  });

  it('goes with its users, and is then unknown', async () => {
    const made = await aggregator.ask<{ data: ApplicationResponse }>('POST /applications', { as: root, body });
    const { id } = made.body.data;
    const user = await aggregator.ask<{ uuid: string }>('POST /users', { as: root, subApplication: id, body: {} });
    const deleted = await aggregator.ask(`DELETE /applications/${id}`, { as: root });
    expect(deleted.status).toBe(204);
    expect(deleted.body).toBeUndefined();
    expect((await aggregator.ask(`GET /applications/${id}`, { as: root })).status).toBe(404);
    expect((await aggregator.ask(`DELETE /applications/${id}`, { as: root })).status).toBe(404);
    expect((await aggregator.ask(`GET /users/${user.body.uuid}`, { as: root })).status).toBe(404);
  });

  it('has an id that is a UUID', async () => {
    expect((await aggregator.ask('GET /applications/1', { as: root })).status).toBe(400);
  });
});
