import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { later, TestBff } from '../../../../test/support/bff.js';

const body = {
  name: 'Corner Shop',
  merchantCategoryCode: '5411',
  ppcUserGroup: 'CONSUMER_GOODS_SERVICES',
  isContractPresent: true,
};

let bff: TestBff;
const create = (wanted: object = body, as = bff.env.OPERATOR_KEY) =>
  bff.ask<Record<string, string>>('POST /v1/merchants', { as, body: wanted });
const rows = async (): Promise<unknown[]> => (await bff.db.pool.query('select * from merchants')).rows;

beforeAll(async () => {
  bff = await TestBff.start();
});
afterAll(() => bff.close());
beforeEach(async () => {
  await bff.db.pool.query('delete from merchants');
  bff.aggregator.calls.length = 0;
  bff.aggregator.webhooks.length = 0;
  bff.aggregator.heal();
});

describe('POST /v1/merchants', () => {
  it('makes a sub-application with our callbacks, a webhook and a key that works', async () => {
    const { status, body: merchant } = await create();
    expect(status).toBe(201);
    expect(merchant).toMatchObject({
      name: 'Corner Shop',
      status: 'active',
      apiKey: expect.stringMatching(/^trb_[\w-]{43}$/),
    });
    const [application] = bff.aggregator.callsOf('POST /applications');
    expect(application?.body).toEqual({
      ...body,
      callbackUrls: ['http://bff.test/v1/connections/callback', 'http://bff.test/v1/payments/callback'],
    });
    const [webhook] = bff.aggregator.callsOf('POST /webhook/events');
    expect(webhook?.headers['sub-application']).toBe(merchant['subApplicationId']);
    expect(webhook?.body).toMatchObject({
      applicationId: merchant['subApplicationId'],
      callbackUrl: { main: { url: 'http://bff.test/v1/webhooks/aggregator' } },
    });
    const session = await bff.ask('POST /v1/sessions', {
      as: merchant['apiKey'] ?? '',
      body: { customer: { reference: 'c' } },
    });
    expect(session.status).toBe(201);
  });

  it('keeps neither the key nor the webhook’s secret in clear', async () => {
    const { body: merchant } = await create();
    const { rows: kept } = await bff.db.pool.query(
      'select row_to_json(k) as key, row_to_json(w) as webhook from api_keys k join webhook_secrets w using (merchant_id)',
    );
    const text = JSON.stringify(kept);
    expect(text).not.toContain(merchant['apiKey']);
    expect(text).not.toContain(bff.aggregator.webhooks[0]?.webhookSecret);
  });

  it('names every faulty member and writes nothing', async () => {
    const answer = await create({ ...body, name: 'Shop/<b>', merchantCategoryCode: '54' });
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(JSON.stringify(answer.body)).toContain('"/name"');
    expect(JSON.stringify(answer.body)).toContain('"/merchantCategoryCode"');
    expect(await rows()).toEqual([]);
    expect(bff.aggregator.calls).toEqual([]);
  });

  it('is for the operator alone', async () => {
    const merchant = await bff.merchant('Another');
    for (const as of ['wrong', merchant.apiKey, bff.env.AGGREGATOR_APPLICATION_SECRET])
      expect((await create(body, as)).status).toBe(401);
    expect((await bff.ask('POST /v1/merchants', { body })).status).toBe(401);
  });

  it('leaves nothing behind when the aggregator refuses, and names the member', async () => {
    bff.aggregator.fail({
      route: 'POST /applications',
      status: 400,
      body: { errors: [{ fieldName: 'merchantCategoryCode', error: 'INVALID_FORMAT' }] },
    });
    const answer = await create();
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('/merchantCategoryCode');
    expect(await rows()).toEqual([]);
  });

  it('is taken up where a crash has cut it off, without a second sub-application', async () => {
    bff.aggregator.fail({ route: 'POST /applications', afterWork: true });
    expect((await create()).status).toBe(503);
    expect(await rows()).toMatchObject([{ status: 'creating', sub_application_id: null }]);
    const answers = await later(120_000, () => Promise.all([create(), create({ ...body, name: 'Other Shop' })]));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(await rows()).toHaveLength(2);
    expect(bff.aggregator.callsOf('POST /applications').map((call) => call.body['name'])).toEqual([
      'Corner Shop',
      'Other Shop',
    ]);
  });

  it('replaces a webhook whose secret was lost on the way', async () => {
    bff.aggregator.fail({ route: 'POST /webhook/events', afterWork: true });
    expect((await create()).status).toBe(503);
    expect((await later(120_000, () => create())).status).toBe(201);
    expect(bff.aggregator.webhooks).toHaveLength(1);
    expect(bff.aggregator.callsOf('DELETE /webhook/events/:id')).toHaveLength(1);
  });
});

describe('GET /v1/merchants', () => {
  it('lists merchants without their keys', async () => {
    await create();
    const answer = await bff.ask<{ data: object[] }>('GET /v1/merchants', { as: bff.env.OPERATOR_KEY });
    expect(answer.body.data).toHaveLength(1);
    expect(answer.text).not.toContain('apiKey');
  });
});
