import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '#libs/database';
import { TestBff } from '../../../../test/support/bff.js';
import { appendEvents, type BatchedEvent } from './event-batch.js';
import { appendEvent } from './event-log.js';

let bff: TestBff;
beforeAll(async () => {
  bff = await TestBff.start();
});
afterAll(() => bff.close());

describe('a batch of events', () => {
  it('is numbered without gaps among single ones, in its order, and goes to the endpoints that want it', async () => {
    const [one, other] = [await bff.merchant('One'), await bff.merchant('Other')];
    const event = (merchantId: string, n: number): BatchedEvent => ({
      merchantId,
      customerId: randomUUID(),
      type: n % 2 === 0 ? 'connection.expiring' : 'connection.renewal',
      data: { n },
    });
    const endpoint = async (merchantId: string, types: string[], status = 'enabled') => {
      const id = randomUUID();
      await bff.db.pool.query(
        `insert into webhook_endpoints (id, merchant_id, url, types, status, created_at) values ($1, $2, 'https://shop.example/', $3, $4, now())`,
        [id, merchantId, types, status],
      );
      return id;
    };
    const all = await endpoint(one.id, []);
    const some = await endpoint(one.id, ['connection.expiring']);
    await endpoint(one.id, [], 'disabled');
    await transaction(bff.db.pool, (tx) => appendEvent(tx, event(one.id, 0)));
    const batch = [event(one.id, 1), event(other.id, 1), event(one.id, 2), event(other.id, 2), event(one.id, 3)];
    await transaction(bff.db.pool, (tx) => appendEvents(tx, batch));
    await transaction(bff.db.pool, (tx) => appendEvents(tx, []));
    await transaction(bff.db.pool, (tx) => appendEvent(tx, event(one.id, 4)));

    const log = async (merchantId: string) =>
      (
        await bff.db.pool.query<{ sequence: number; n: number }>(
          `select sequence::int, (data::json->>'n')::int as n from events where merchant_id = $1 order by sequence`,
          [merchantId],
        )
      ).rows.map(({ sequence, n }) => [sequence, n]);
    const start = ((await log(one.id))[0]?.[0] ?? 0) - 1;
    expect(await log(one.id)).toEqual([0, 1, 2, 3, 4].map((n) => [start + n + 1, n]));
    expect((await log(other.id)).map(([, n]) => n)).toEqual([1, 2]);
    const { rows } = await bff.db.pool.query(
      `select endpoint_id, count(*)::int as count from webhook_deliveries group by endpoint_id order by count desc`,
    );
    expect(rows).toEqual([
      { endpoint_id: all, count: 5 },
      { endpoint_id: some, count: 3 },
    ]);
  });
});
