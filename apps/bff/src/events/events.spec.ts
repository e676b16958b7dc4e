import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '#libs/database';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { EventPage, EventView } from './event.dto.js';
import { appendEvents } from './event-batch.js';
import { appendEvent, type NewEvent } from './event-log.js';

let bff: TestBff;
let merchant: TestMerchant;

beforeAll(async () => {
  bff = await TestBff.start();
});
afterAll(() => bff.close());
beforeEach(async () => {
  merchant = await bff.merchant(`Shop ${randomUUID().slice(0, 8)}`);
});

function append(event: Partial<NewEvent> = {}, of = merchant) {
  return transaction(bff.db.pool, (tx) =>
    appendEvent(tx, { merchantId: of.id, type: 'payment.updated', data: { paymentId: randomUUID() }, ...event }),
  );
}

const pull = (query: string, as = merchant.apiKey) => bff.ask<EventPage>(`GET /v1/events?${query}`, { as });
const sequences = ({ data }: EventPage): number[] => data.map(({ sequence }) => sequence);

describe('the event log', () => {
  it('is filtered by type and customer, and goes on behind what did not match', async () => {
    const { customerId } = await bff.session(merchant, 'ada');
    await append({ type: 'payment.completed' });
    await append({ customerId });
    await append({ type: 'payment.failed', customerId });
    await append();
    expect((await pull('types=payment.completed,payment.failed')).body).toMatchObject({ nextAfter: 4, hasMore: false });
    expect(sequences((await pull('types=payment.completed&types=payment.failed')).body)).toEqual([1, 3]);
    expect(sequences((await pull(`customerId=${customerId}`)).body)).toEqual([2, 3]);
    expect(sequences((await pull(`customerId=${customerId}&types=payment.failed`)).body)).toEqual([3]);
    expect(await pull('types=payment.failed&limit=1&after=3')).toMatchObject({ body: { data: [], nextAfter: 4 } });
    expect((await pull('after=9')).body).toEqual({ data: [], nextAfter: 9, hasMore: false });
  });

  it.each([
    'types=Payment',
    'types=payment.complete',
    'after=-1',
    'after=9007199254740992',
    'limit=501',
    'customerId=ada',
  ])('refuses %s', async (query) => {
    expect((await pull(query)).status).toBe(400);
  });

  it('is filtered by every type that is written', async () => {
    await append();
    await append({ type: 'account.balance-mismatch' });
    await append({ type: 'webhook_endpoint.ping' });
    expect(sequences((await pull('types=account.balance-mismatch,webhook_endpoint.ping')).body)).toEqual([2, 3]);
  });

  it('shows a customer’s session that customer’s events and no other', async () => {
    const ada = await bff.session(merchant, 'ada');
    const bob = await bff.session(merchant, 'bob');
    const ids = [];
    for (const { customerId } of [ada, bob]) ids.push((await append({ customerId }))?.id);
    await append();
    expect(sequences((await pull('', ada.token)).body)).toEqual([1]);
    expect(sequences((await pull(`customerId=${bob.customerId}`, ada.token)).body)).toEqual([1]);
    const statuses = [];
    for (const id of ids) statuses.push((await bff.ask(`GET /v1/events/${id}`, { as: ada.token })).status);
    expect(statuses).toEqual([200, 404]);
  });

  it('gives one event by its id to its own merchant', async () => {
    const appended = await append({ type: 'payment.completed', data: { paymentId: 'p', status: 'COMPLETED' } });
    const { body } = await bff.ask<EventView>(`GET /v1/events/${appended?.id}`, { as: merchant.apiKey });
    expect(body).toEqual({
      id: appended?.id,
      sequence: 1,
      type: 'payment.completed',
      data: { paymentId: 'p', status: 'COMPLETED' },
      createdAt: expect.any(String),
    });
    const other = await bff.merchant('Other Shop');
    expect((await bff.ask(`GET /v1/events/${appended?.id}`, { as: other.apiKey })).status).toBe(404);
    expect((await bff.ask('GET /v1/events/none', { as: merchant.apiKey })).status).toBe(404);
  });

  it('has no gap, whoever writes at once and whoever fails', async () => {
    const failing = transaction(bff.db.pool, async (tx) => {
      await appendEvent(tx, { merchantId: merchant.id, type: 'payment.updated', data: {} });
      throw new Error('The change failed');
    });
    await Promise.allSettled([...Array.from({ length: 30 }, () => append()), failing]);
    expect(sequences((await pull('limit=500')).body)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });

  it('lets a receiver that was down for three days catch up by pull: nothing lost, nothing out of order', async () => {
    const total = 20_000;
    const { customerId } = await bff.session(merchant, 'ada');
    let written = 0;
    const event = () => ({
      merchantId: merchant.id,
      customerId,
      type: 'payment.updated' as const,
      data: { n: (written += 1) },
    });
    /** By their place. */
    const ids = new Map<number, string | undefined>();
    // Most as a worker writes them, some alone in between, as a request does.
    const writeSome = (count: number): Promise<void> =>
      transaction(bff.db.pool, async (tx) => {
        await appendEvents(tx, Array.from({ length: count - 2 }, event));
        for (let alone = 0; alone < 2; alone += 1) {
          const appended = await appendEvent(tx, event());
          ids.set(written, appended?.id);
        }
      });
    const hours = 72;
    for (let hour = 0; hour < hours; hour += 1) {
      const count = hour === hours - 1 ? total - written : Math.floor(total / hours);
      await later(hour * 3_600_000, () => writeSome(count));
    }
    const read: EventView[] = [];
    let after = 0;
    for (let pages = 0; pages < total / 500 + 1; pages += 1) {
      const { body } = await later(hours * 3_600_000, () => pull(`limit=500&after=${after}`));
      read.push(...body.data);
      after = body.nextAfter;
      if (!body.hasMore) break;
    }
    expect(read).toHaveLength(total);
    expect(read.every(({ data }, index) => data.n === index + 1)).toBe(true);
    expect(new Set(read.map(({ id }) => id)).size).toBe(total);
    expect([...ids].map(([n]) => [n, read[n - 1]?.id])).toEqual([...ids]);
    expect(read.every(({ sequence }, index) => sequence === index + 1)).toBe(true);
    const times = read.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted());
  }, 60_000);
});
