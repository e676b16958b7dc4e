import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WebhookWithSecretResponse } from '#libs/contract';
import { inScope, transaction } from '#libs/database';
import { now, resetClock, setClock } from '#libs/server';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { type Receiver, startReceiver } from '../../../../test/support/receiver.js';
import type { IssuedKey } from '../applications/application-keys.service.js';
import { DeliveriesService } from './deliveries.service.js';
import { EventsService } from './events.service.js';

const category = 'payment.state.success';

let aggregator: TestAggregator;
let receiver: Receiver;
let root: IssuedKey;
let first: string;
let webhookId: string;
let start: number;

beforeAll(async () => {
  aggregator = await TestAggregator.start();
});
afterAll(() => aggregator.close());
beforeEach(async () => {
  receiver = await startReceiver();
  root = await aggregator.application('Root');
  const callbackUrl = { main: { url: `${receiver.url}/hook` } };
  const { body } = await aggregator.ask<WebhookWithSecretResponse>('POST /webhook/events', {
    as: root,
    body: { applicationId: root.id, categories: [category], callbackUrl },
  });
  ({ id: webhookId, webhookSecret: first } = body.data);
  start = now().getTime();
  setClock(() => new Date(start));
});
afterEach(async () => {
  resetClock();
  await receiver.close();
});

async function reset(delay: number): Promise<string> {
  const { body } = await aggregator.ask<WebhookWithSecretResponse>(`POST /webhook/secrets/${webhookId}`, {
    as: root,
    body: { delay },
  });
  return body.data.webhookSecret;
}

/** Which of the secrets signs what is sent so many seconds after the start; its place, or -1. */
async function signerAt(seconds: number, secrets: string[]): Promise<number> {
  setClock(() => new Date(start + seconds * 1_000));
  const published = inScope([root.id], () =>
    transaction(aggregator.db.pool, (tx) =>
      aggregator.get(EventsService).publish(tx, { applicationId: root.id, category, event: { id: 'p-1' } }),
    ),
  );
  for (const { id } of await published) await aggregator.get(DeliveriesService).deliver(id);
  const { body = Buffer.alloc(0), headers } = receiver.received.at(-1) ?? {};
  const signature = headers?.['webhook-signature'];
  return secrets.findIndex((secret) => createHmac('sha256', secret).update(body).digest('hex') === signature);
}

describe('the secret of a webhook that is reset', () => {
  it('signs at once without a delay', async () => {
    const second = await reset(0);
    expect(await signerAt(0, [first, second])).toBe(1);
  });

  it('signs until the delay is over, and not a moment longer', async () => {
    const second = await reset(600);
    expect(await signerAt(599, [first, second])).toBe(0);
    expect(await signerAt(600, [first, second])).toBe(1);
  });

  it('is followed by the last one only, when it is reset again before', async () => {
    const secrets = [first, await reset(600), await reset(3_600)];
    expect(await signerAt(601, secrets)).toBe(0);
    expect(await signerAt(3_600, secrets)).toBe(2);
  });

  it('is the one in force, whenever it is reset after that', async () => {
    const second = await reset(600);
    setClock(() => new Date(start + 700_000));
    const secrets = [first, second, await reset(600)];
    expect(await signerAt(701, secrets)).toBe(1);
    expect(await signerAt(1_300, secrets)).toBe(2);
  });
});
