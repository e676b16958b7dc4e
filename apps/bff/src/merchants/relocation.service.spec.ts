import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signWebhook } from '#libs/client';
import { createApp, createLogger } from '#libs/server';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { until } from '../../../../test/support/receiver.js';
import { AppModule, programModule } from '../app.module.js';
import { programOptions } from '../program-options.js';
import { WorkerModule } from '../worker.module.js';

const oldUrl = 'http://bff.test/v1/webhooks/aggregator';
const newUrl = 'https://new.bff.test/v1/webhooks/aggregator';

let bff: TestBff;
let merchant: TestMerchant;

beforeAll(async () => {
  bff = await TestBff.start();
});
afterAll(() => bff.close());
beforeEach(async () => {
  await bff.db.pool.query('delete from merchants');
  bff.aggregator.webhooks.length = 0;
  bff.aggregator.calls.length = 0;
  bff.aggregator.heal();
  merchant = await bff.merchant();
});

/** The program started again, at another address where one is given, until `isDone`. */
async function startedAt(url: string, isDone: () => Promise<boolean>): Promise<void> {
  const env = Object.assign(Object.create(bff.env) as typeof bff.env, { BFF_URL: url });
  const logger = createLogger('bff', undefined, 'silent');
  const app = await createApp(programModule(env, [AppModule, WorkerModule]), { ...programOptions(env), logger });
  try {
    await app.init();
    await until(isDone);
  } finally {
    await app.close();
  }
}

const pending = async (): Promise<unknown[]> =>
  (await bff.db.pool.query('select 1 from merchants where next_registration_at is not null')).rows;
const registeredUrls = async (): Promise<unknown[]> =>
  (await bff.db.pool.query<{ url: unknown }>('select registered_url as url from merchants')).rows.map(({ url }) => url);
const isAtNew = async (): Promise<boolean> => (await registeredUrls()).every((url) => url === 'https://new.bff.test');
const leadsTo = (): string[] => bff.aggregator.webhooks.map(({ callbackUrl }) => callbackUrl.main.url);
const moveToNew = (): Promise<void> => startedAt('https://new.bff.test', isAtNew);

/** How the aggregator’s word is taken when it is signed with that secret. */
const told = async (secret: string): Promise<number> => {
  const notice = JSON.stringify({ id: crypto.randomUUID(), applicationId: merchant.subApplicationId, type: 'x' });
  const headers = { 'content-type': 'application/json', 'webhook-signature': signWebhook(notice, secret) };
  return (await bff.ask('POST /v1/webhooks/aggregator', { body: notice, headers })).status;
};

describe('a program that starts at another address', () => {
  it('has the callbacks and the webhook of every merchant moved there', async () => {
    await bff.merchant('Other Shop');
    await moveToNew();
    expect(leadsTo()).toEqual([newUrl, newUrl]);
    const callbackUrls = ['connections', 'payments'].map((each) => `https://new.bff.test/v1/${each}/callback`);
    const ours = bff.aggregator.registered.applications.filter(({ id }) => id === merchant.subApplicationId);
    expect(ours).toMatchObject([{ name: 'Corner Shop', merchantCategoryCode: '5411', callbackUrls }]);
    expect(await pending()).toEqual([]);
  });

  it('believes the new secret, and for a while the old one', async () => {
    const [old] = bff.aggregator.webhooks;
    await moveToNew();
    const [fresh] = bff.aggregator.webhooks;
    expect(fresh?.id).not.toBe(old?.id);
    for (const webhook of [old, fresh]) expect(await told(webhook?.webhookSecret ?? '')).toBe(204);
    const { rows } = await bff.db.pool.query('select 1 from webhook_secrets where retired_at is null');
    expect(rows).toHaveLength(1);
  });

  it('makes no second webhook where the first answer was lost, and none where all is as it was', async () => {
    bff.aggregator.fail({ route: 'POST /webhook/events', afterWork: true });
    await startedAt('https://new.bff.test', () => Promise.resolve(leadsTo().includes(newUrl)));
    expect(leadsTo()).toEqual([oldUrl, newUrl]);
    expect(await pending()).toHaveLength(1);
    await bff.db.pool.query('update merchants set registration_lease_until = null');
    await moveToNew();
    expect(leadsTo()).toEqual([newUrl]);
    expect(await told(bff.aggregator.webhooks[0]?.webhookSecret ?? '')).toBe(204);
    const calls = bff.aggregator.calls.length;
    await moveToNew();
    expect(bff.aggregator.calls).toHaveLength(calls);
  });

  it('gives the old secret up in time, also where the answer to the end of the old webhook was lost', async () => {
    bff.aggregator.fail({ route: 'DELETE /webhook/events/:id', afterWork: true });
    await startedAt('https://new.bff.test', () => Promise.resolve(!leadsTo().includes(oldUrl)));
    expect(await pending()).toHaveLength(1);
    await bff.db.pool.query('update merchants set registration_lease_until = null');
    await moveToNew();
    expect(leadsTo()).toEqual([newUrl]);
    const { rows } = await bff.db.pool.query('select 1 from webhook_secrets where retired_at is null');
    expect(rows).toHaveLength(1);
  });

  it('leaves webhooks alone that are not its own', async () => {
    const foreign = { main: { url: 'https://elsewhere.test/hook' } };
    const client = { id: crypto.randomUUID(), applicationId: merchant.subApplicationId, webhookSecret: 's' };
    bff.aggregator.webhooks.push({ ...client, callbackUrl: foreign });
    await moveToNew();
    expect(leadsTo().toSorted()).toEqual(['https://elsewhere.test/hook', newUrl].toSorted());
  });

  it('only notes the address where it was not known and nothing has moved', async () => {
    await bff.db.pool.query('update merchants set registered_url = null');
    const before = [...bff.aggregator.webhooks];
    await startedAt('http://bff.test', async () => (await registeredUrls()).includes('http://bff.test'));
    expect(bff.aggregator.webhooks).toEqual(before);
  });
});
