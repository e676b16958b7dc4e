import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WebhookWithSecretResponse } from '#libs/contract';
import { asSystem, inScope, transaction } from '#libs/database';
import { now, resetClock, setClock } from '#libs/server';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { type Receiver, startReceiver, until } from '../../../../test/support/receiver.js';
import type { IssuedKey } from '../applications/application-keys.service.js';
import { WorkerModule } from '../worker.module.js';
import { DeliveriesService } from './deliveries.service.js';
import { EventsService } from './events.service.js';
import { OutboxService } from './outbox.service.js';

interface DeliveryState {
  status: string;
  rounds: number;
  next_attempt_at: Date | null;
}

const category = 'single_payment.status.completed';
const patienceMs = 10_000;
let aggregator: TestAggregator;
let receiver: Receiver;
let spare: Receiver;
let root: IssuedKey;
let secret: string;
let webhookId: string;

beforeAll(async () => {
  aggregator = await TestAggregator.start({ env: { WEBHOOK_RETRY_SECONDS: '60,300' } });
});
afterAll(() => aggregator.close());

beforeEach(async () => {
  receiver = await startReceiver();
  spare = await startReceiver();
  root = await aggregator.application('Root');
  ({ secret, webhookId } = await register());
});
afterEach(async () => {
  resetClock();
  aggregator.env.WEBHOOK_TIMEOUT_MS = patienceMs;
  await receiver.close();
  await spare.close();
});

async function register(callbackUrl: object = { main: { url: `${receiver.url}/hook` } }) {
  const { status, body } = await aggregator.ask<WebhookWithSecretResponse>('POST /webhook/events', {
    as: root,
    body: { applicationId: root.id, categories: [category], callbackUrl, metadata: { shop: '7' } },
  });
  expect(status).toBe(201);
  return { secret: body.data.webhookSecret, webhookId: body.data.id };
}

function publish(event: object = { id: 'p-1', amount: 10.1 }): Promise<string[]> {
  return inScope([root.id], async () => {
    const due = await transaction(aggregator.db.pool, (tx) =>
      aggregator.get(EventsService).publish(tx, { applicationId: root.id, category, event }),
    );
    return due.map(({ id }) => id);
  });
}

async function stateOf(id: string): Promise<DeliveryState | undefined> {
  const { rows } = await asSystem(() =>
    aggregator.db.pool.query<DeliveryState>('SELECT status, rounds, next_attempt_at FROM deliveries WHERE id = $1', [
      id,
    ]),
  );
  return rows[0];
}

async function attemptsOf(id: string): Promise<object[]> {
  const { rows } = await asSystem(() =>
    aggregator.db.pool.query<object>(
      'SELECT round, target, http_status, failure FROM attempts WHERE delivery_id = $1 ORDER BY started_at, target DESC',
      [id],
    ),
  );
  return rows;
}

function moveClock(seconds: number): void {
  const at = new Date(now().getTime() + seconds * 1_000);
  setClock(() => at);
}

const deliver = (id = '') => aggregator.get(DeliveriesService).deliver(id);

describe('a delivery', () => {
  it('carries the interface body, signed over its exact bytes', async () => {
    const [id] = await publish();
    await deliver(id);
    expect(receiver.received).toHaveLength(1);
    const [{ body, headers, path } = { body: Buffer.alloc(0), headers: {}, path: '' }] = receiver.received;
    expect(path).toBe('/hook');
    expect(JSON.parse(body.toString())).toEqual({
      id: webhookId,
      applicationId: root.id,
      type: category,
      event: { id: 'p-1', amount: 10.1 },
      metadata: { shop: '7' },
    });
    expect(headers['webhook-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
    expect(await stateOf(id ?? '')).toEqual({ status: 'DELIVERED', rounds: 1, next_attempt_at: null });
    expect(await attemptsOf(id ?? '')).toEqual([{ round: 1, target: 'main', http_status: 204, failure: null }]);
  });

  it('tries the backup address at once when the main one fails', async () => {
    await register({ main: { url: `${receiver.url}/main` }, backup: { url: `${spare.url}/backup` } });
    receiver.answer = 500;
    const ids = await publish();
    for (const id of ids) await deliver(id);
    expect(spare.received.map(({ path }) => path)).toEqual(['/backup']);
    const states = (await Promise.all(ids.map(stateOf))).map((state) => state?.status);
    expect(new Set(states)).toEqual(new Set(['DELIVERED', 'PENDING']));
  });

  it('is repeated on schedule with the same id and bytes, and dead after the last round', async () => {
    receiver.answer = 503;
    const start = new Date(Date.parse('2026-03-01T00:00:00Z'));
    setClock(() => start);
    const [id = ''] = await publish();
    await deliver(id);
    expect((await stateOf(id))?.next_attempt_at).toEqual(new Date(start.getTime() + 60_000));
    await deliver(id);
    expect(receiver.received).toHaveLength(1);
    moveClock(60);
    await deliver(id);
    expect((await stateOf(id))?.next_attempt_at).toEqual(new Date(start.getTime() + 360_000));
    moveClock(300);
    await deliver(id);
    expect(await stateOf(id)).toEqual({ status: 'DEAD', rounds: 3, next_attempt_at: null });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body.toString())).size).toBe(1);
    expect(await attemptsOf(id)).toHaveLength(3);
  });

  it('that is dead can be replayed by the operator', async () => {
    receiver.answer = 503;
    const [id = ''] = await publish();
    for (const seconds of [0, 60, 300]) {
      moveClock(seconds);
      await deliver(id);
    }
    const outbox = new OutboxService(aggregator.db.pool);
    expect((await outbox.dead()).map((dead) => dead.id)).toContain(id);
    await outbox.replay(id);
    receiver.answer = 200;
    await deliver(id);
    expect((await stateOf(id))?.status).toBe('DELIVERED');
    await expect(outbox.replay('00000000-0000-0000-0000-000000000000')).rejects.toThrow(/no finished delivery/);
  });

  it('counts an answer that comes too late as none', async () => {
    receiver.answer = 'hang';
    const [id = ''] = await publish();
    aggregator.env.WEBHOOK_TIMEOUT_MS = 300;
    await deliver(id);
    expect(await attemptsOf(id)).toEqual([{ round: 1, target: 'main', http_status: null, failure: 'timeout' }]);
  });

  it('is sent once when two workers take it at the same time', async () => {
    const arrived = Promise.withResolvers<void>();
    receiver.answer = () => arrived.promise.then(() => 204);
    const [id = ''] = await publish();
    const both = Promise.all([deliver(id), deliver(id)]);
    await until(() => receiver.received.length > 0);
    arrived.resolve();
    await both;
    await deliver(id);
    expect(receiver.received).toHaveLength(1);
    expect(await attemptsOf(id)).toHaveLength(1);
  });

  it('is taken over when its worker died, and not before the lease has run out', async () => {
    const start = now();
    setClock(() => start);
    const [id = ''] = await publish();
    const died = 'UPDATE deliveries SET leased_until = $2 WHERE id = $1';
    await asSystem(() => aggregator.db.pool.query(died, [id, new Date(start.getTime() + 5_000)]));
    await deliver(id);
    expect(receiver.received).toHaveLength(0);
    moveClock(6);
    await deliver(id);
    expect((await stateOf(id))?.status).toBe('DELIVERED');
  });

  it('goes with its webhook', async () => {
    const [id = ''] = await publish();
    await aggregator.ask(`DELETE /webhook/events/${webhookId}`, { as: root });
    await deliver(id);
    expect(await stateOf(id)).toBeUndefined();
    expect(receiver.received).toHaveLength(0);
  });
});

describe('an event', () => {
  it('is stored sealed, because it names accounts', async () => {
    await publish({ iban: 'GB33BUKB20201555555555' });
    const { rows } = await asSystem(() => aggregator.db.pool.query('SELECT * FROM events'));
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain('GB33BUKB20201555555555');
  });

  it('is written with its transaction or not at all, and leaves no gap in the sequence', async () => {
    const rolledBack = inScope([root.id], () =>
      transaction(aggregator.db.pool, async (tx) => {
        await aggregator.get(EventsService).publish(tx, { applicationId: root.id, category, event: {} });
        throw new Error('the change failed');
      }),
    );
    await expect(rolledBack).rejects.toThrow('the change failed');
    await Promise.all(Array.from({ length: 10 }, () => publish()));
    const { rows } = await inScope([root.id], () =>
      aggregator.db.pool.query<{ sequence: string }>(
        'SELECT sequence FROM events WHERE application_id = $1 ORDER BY sequence',
        [root.id],
      ),
    );
    expect(rows.map(({ sequence }) => Number(sequence))).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
  });

  it('is forgotten with its deliveries after its retention, but not before it was delivered', async () => {
    const [done = '', open = ''] = [...(await publish({ id: 'old' })), ...(await publish({ id: 'open' }))];
    await deliver(done);
    await aggregator.get(DeliveriesService).forget();
    expect(await stateOf(done)).toMatchObject({ status: 'DELIVERED' });
    const later = new Date(now().getTime() + 31 * 86_400_000);
    setClock(() => later);
    expect(await aggregator.get(DeliveriesService).forget()).toBeGreaterThan(0);
    expect(await stateOf(done)).toBeUndefined();
    expect(await stateOf(open)).toMatchObject({ status: 'PENDING' });
    await deliver(open);
    await aggregator.get(DeliveriesService).forget();
    expect(await stateOf(open)).toBeUndefined();
    expect((await publish()).length).toBe(1);
  });

  it('of a deleted application is no fault: nobody is left to hear of it', async () => {
    const gone = await aggregator.application('Gone', root);
    expect((await aggregator.ask(`DELETE /applications/${gone.id}`, { as: root })).status).toBe(204);
    const ids = await asSystem(() =>
      transaction(aggregator.db.pool, (tx) =>
        aggregator.get(EventsService).publish(tx, { applicationId: gone.id, category, event: {} }),
      ),
    );
    expect(ids).toEqual([]);
  });

  it('reaches only the webhooks that want its category and belong to its application', async () => {
    const shop = await aggregator.application('Shop', root);
    const ids = await inScope([shop.id], () =>
      transaction(aggregator.db.pool, (tx) =>
        aggregator.get(EventsService).publish(tx, { applicationId: shop.id, category, event: {} }),
      ),
    );
    expect(ids).toEqual([]);
    const other = await inScope([root.id], () =>
      transaction(aggregator.db.pool, (tx) =>
        aggregator
          .get(EventsService)
          .publish(tx, { applicationId: root.id, category: 'payment.state.failed', event: {} }),
      ),
    );
    expect(other).toEqual([]);
  });
});

describe('the worker', () => {
  it('delivers what was committed without a job, and what was dispatched', async () => {
    const worker = await TestAggregator.start({ modules: [WorkerModule] });
    try {
      const owner = await worker.application('Owner');
      await worker.ask('POST /webhook/events', {
        as: owner,
        body: { applicationId: owner.id, categories: [category], callbackUrl: { main: { url: receiver.url } } },
      });
      const events = worker.get(EventsService);
      const write = () =>
        inScope([owner.id], () =>
          transaction(worker.db.pool, (tx) => events.publish(tx, { applicationId: owner.id, category, event: {} })),
        );
      await events.dispatch(await write());
      await until(() => receiver.received.length === 1);
      await write();
      await worker.get(DeliveriesService).sweep();
      await until(() => receiver.received.length === 2);
      const types = receiver.received.map(({ body }) => (JSON.parse(body.toString()) as { type: string }).type);
      expect(types).toEqual([category, category]);
    } finally {
      await worker.close();
    }
  });
});
