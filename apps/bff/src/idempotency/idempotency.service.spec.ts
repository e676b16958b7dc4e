import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { IdempotencyService } from './idempotency.service.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let count = 0;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token } = await bff.session(merchant, 'ada'));
});
afterAll(() => bff.close());
beforeEach(() => {
  bff.aggregator.heal();
  bff.aggregator.calls.length = 0;
});

const freshKey = (): string => `key-${(count += 1)}`;
const connect = (key: string, { as = token, body = { institutionId: 'bank' } }: { as?: string; body?: object } = {}) =>
  bff.ask<{ id: string }>('POST /v1/connections', { as, body, headers: { 'idempotency-key': key } });
const newKey = (key: string) =>
  bff.ask<{ id: string; apiKey: string }>('POST /v1/api-keys', {
    as: merchant.apiKey,
    body: {},
    headers: { 'idempotency-key': key },
  });
const asked = () => bff.aggregator.callsOf('POST /account-auth-requests').length;
const counted = async (table: 'connections' | 'api_keys' | 'idempotency_keys'): Promise<number> =>
  (await bff.db.pool.query(`select 1 from ${table}`)).rows.length;

/** As a crash after the work leaves it: the intent is stored, the answer is not. */
async function cutOff(secondsAgo: number): Promise<void> {
  await bff.db.pool.query(
    `update idempotency_keys set answer_status = null, sealed_answer = null, claimed_at = now() - make_interval(secs => $1)`,
    [secondsAgo],
  );
}

describe('a write with an Idempotency-Key', () => {
  it('is done once and answered the same again, whatever the order of its members', async () => {
    const key = freshKey();
    const body = { institutionId: 'bank', returnUrl: 'https://shop.example/back' };
    const first = await connect(key, { body });
    const again = await connect(key, { body: { returnUrl: body.returnUrl, institutionId: 'bank' } });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    expect(asked()).toBe(1);
  });

  it('takes a key in quotes for the same key', async () => {
    const key = freshKey();
    const first = await connect(key);
    expect((await connect(`"${key}"`)).text).toBe(first.text);
  });

  it('is refused under the key of another one, naming the header', async () => {
    const key = freshKey();
    await connect(key);
    const other = await connect(key, { body: { institutionId: 'other' } });
    expect(other.status).toBe(422);
    expect(other.text).toContain('"parameter":"idempotency-key"');
    const elsewhere = { as: token, headers: { 'idempotency-key': key } };
    expect((await bff.ask('DELETE /v1/connections/00000000-0000-4000-8000-000000000000', elsewhere)).status).toBe(422);
  });

  it('has keys of its own for each customer and each merchant', async () => {
    const key = freshKey();
    const other = await bff.session(merchant, 'bob');
    const [first, second] = [await connect(key), await connect(key, { as: other.token })];
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('is told that the first call is still under way', async () => {
    const key = freshKey();
    await connect(key);
    await cutOff(10);
    const again = await connect(key);
    expect(again.status).toBe(409);
    expect(Number(again.headers['retry-after'])).toBeGreaterThanOrEqual(10);
    expect(Number(again.headers['retry-after'])).toBeLessThanOrEqual(120);
    expect(asked()).toBe(1);
  });

  it('is taken up after a crash, and makes nothing twice', async () => {
    const key = freshKey();
    const first = await connect(key);
    const made = await counted('connections');
    await cutOff(600);
    const again = await connect(key);
    expect(again.status).toBe(201);
    expect(again.body.id).toBe(first.body.id);
    expect(await counted('connections')).toBe(made);
    expect(asked()).toBe(1);
  });

  it('asks again where the crash came before the answer of the aggregator', async () => {
    const key = freshKey();
    const first = await connect(key);
    await bff.db.pool.query(
      `update connections set status = 'preparing', consent_id = null, authorisation_url = null where id = $1`,
      [first.body.id],
    );
    await cutOff(600);
    const again = await connect(key);
    expect(again.body).toMatchObject({ id: first.body.id, status: 'awaiting-authorisation' });
    expect(asked()).toBe(2);
  });

  it('leaves the key free when it was refused', async () => {
    const key = freshKey();
    bff.aggregator.fail({ route: 'POST /account-auth-requests', status: 503, times: 1 });
    expect((await connect(key)).status).toBe(503);
    expect((await connect(key, { body: { institutionId: 'none' } })).status).toBe(400);
    expect((await connect(key)).status).toBe(201);
  });

  it('is refused with a key that is none', async () => {
    for (const key of ['', ' ', 'a b', 'x'.repeat(201)]) expect((await connect(key)).status).toBe(400);
  });
});

describe('a write that a crash cut off', () => {
  it('makes a key once, and the one that is answered is the one that works', async () => {
    const before = await counted('api_keys');
    const key = freshKey();
    const first = await newKey(key);
    await cutOff(600);
    const again = await newKey(key);
    expect(again.status).toBe(201);
    expect(again.body.id).toBe(first.body.id);
    expect(await counted('api_keys')).toBe(before + 1);
    expect((await bff.ask('GET /v1/events', { as: again.body.apiKey })).status).toBe(200);
    expect((await newKey(key)).text).toBe(again.text);
  });
});

describe('what is kept', () => {
  it('holds no answer in clear', async () => {
    const key = freshKey();
    const { apiKey } = (await newKey(key)).body;
    const { rows } = await bff.db.pool.query('select row_to_json(k)::text as text from idempotency_keys k');
    const text = rows.map((row: { text: string }) => row.text).join('\n');
    expect(text).not.toContain(apiKey);
    expect(text).not.toContain(`"${key}"`);
  });

  it('is kept for thirty days', async () => {
    const key = freshKey();
    const first = await connect(key);
    const day = 24 * 3_600_000;
    const { token: later29 } = await later(29 * day, () => bff.session(merchant, 'ada'));
    await later(29 * day, async () => {
      await bff.get(IdempotencyService).sweep();
      expect((await connect(key, { as: later29 })).text).toBe(first.text);
    });
    await later(31 * day, async () => {
      await bff.get(IdempotencyService).sweep();
      expect(await counted('idempotency_keys')).toBe(0);
    });
  });
});
