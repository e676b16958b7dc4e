import { type FreshDatabase, freshDatabase } from '../../../test/support/postgres.js';
import { resetClock, setClock } from '#libs/server';
import { takeDue } from './due.js';
import { acquireLease, assertLease, LeaseLostError, releaseLease, renewLease } from './lease.js';
import type { BffPrisma } from './prisma-clients.js';
import { transaction } from './transaction.js';

describe('leases and due rows', () => {
  let db: FreshDatabase<BffPrisma>;
  let at: number;
  const passes = (ms: number): void => void (at += ms);

  beforeAll(async () => {
    db = await freshDatabase('bff');
  });
  afterAll(() => db.close());
  beforeEach(() => {
    at = Date.parse('2026-11-21T09:00:00Z');
    setClock(() => new Date(at));
  });
  afterEach(resetClock);

  it('are held by one of many who ask at once', async () => {
    const asked = await Promise.all(
      Array.from({ length: 8 }, () => acquireLease(db.pool, { resource: 'a', ttlMs: 1_000 })),
    );
    expect(asked.filter((lease) => lease !== undefined)).toHaveLength(1);
  });

  it('go to the next one when they run out, and fence the former holder off', async () => {
    const first = await acquireLease(db.pool, { resource: 'b', ttlMs: 1_000 });
    if (!first) throw new Error('The lease was free');
    expect(await acquireLease(db.pool, { resource: 'b', ttlMs: 1_000 })).toBeUndefined();
    passes(1_001);
    await transaction(db.pool, (tx) => assertLease(tx, first));
    const second = await acquireLease(db.pool, { resource: 'b', ttlMs: 1_000 });
    expect(Number(second?.token)).toBeGreaterThan(Number(first.token));
    await expect(transaction(db.pool, (tx) => assertLease(tx, first))).rejects.toThrow(LeaseLostError);
    await expect(renewLease(db.pool, first, 1_000)).rejects.toThrow(LeaseLostError);
    await releaseLease(db.pool, first);
    expect(await acquireLease(db.pool, { resource: 'b', ttlMs: 1_000 })).toBeUndefined();
  });

  it('are not taken over while their holder writes', async () => {
    const first = await acquireLease(db.pool, { resource: 'c', ttlMs: 1_000 });
    if (!first) throw new Error('The lease was free');
    passes(1_001);
    const order: string[] = [];
    let takeover: Promise<unknown> = Promise.resolve();
    await transaction(db.pool, async (tx) => {
      await assertLease(tx, first);
      takeover = acquireLease(db.pool, { resource: 'c', ttlMs: 1_000 }).then(() => order.push('taken over'));
      await tx.query('SELECT pg_sleep(0.05)');
      order.push('written');
    });
    await takeover;
    expect(order).toEqual(['written', 'taken over']);
  });

  it('of due rows go to different workers, the longest overdue first, and come back when a worker dies', async () => {
    await db.pool.query(
      `INSERT INTO inbound_events (id, merchant_id, delivery_id, type, sealed_body, status, received_at, next_attempt_at)
       SELECT gen_random_uuid(), gen_random_uuid(), n::text, 't', '', 'received', $1, $1::timestamptz - n * interval '1 second'
         FROM generate_series(1, 10) n`,
      [new Date(at)],
    );
    const due = { table: 'inbound_events', dueColumn: 'next_attempt_at', leaseColumn: 'lease_until', leaseMs: 5_000 };
    interface Row {
      delivery_id: string;
      next_attempt_at: Date;
    }
    const taken = await Promise.all([1, 2, 3].map(() => takeDue<Row>(db.pool, { ...due, limit: 4 })));
    const ids = taken.flat().map((row) => row.delivery_id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(10);
    for (const rows of taken) {
      expect(rows.map((row) => Number(row.delivery_id))).toEqual(
        rows.map((row) => Number(row.delivery_id)).toSorted((one, other) => other - one),
      );
    }
    expect(await takeDue<Row>(db.pool, { ...due, limit: 20 })).toHaveLength(0);
    passes(5_001);
    expect(await takeDue<Row>(db.pool, { ...due, limit: 20 })).toHaveLength(10);
  });
});
