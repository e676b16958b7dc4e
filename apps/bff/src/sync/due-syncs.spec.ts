import { randomUUID } from 'node:crypto';
import { Test, type TestingModule } from '@nestjs/testing';
import { getQueueToken } from '@nestjs/bullmq';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BffPrisma, type Queue, QueueModule } from '#libs/database';
import { later } from '../../../../test/support/bff.js';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { hasRedis, startRedis } from '../../../../test/support/redis.js';
import { scheduleAccounts } from '../../../../test/support/scheduled-accounts.js';
import { handMs, takeReadyAccounts } from './account-schedule.js';
import { enqueueDueSyncs } from './connection.processor.js';

const backends: [name: string, start: () => Promise<{ url?: string; stop: () => Promise<void> }>][] = [
  ['Postgres', () => Promise.resolve({ stop: () => Promise.resolve() })],
];
if (hasRedis()) backends.push(['Redis', startRedis]);

describe.each(backends)('what is due, with its queue on %s', (_name, startBackend) => {
  let db: FreshDatabase<BffPrisma>;
  let stop: () => Promise<void>;
  let module: TestingModule;
  let queue: Queue;
  let ids: string[];

  beforeAll(async () => {
    const backend = await startBackend();
    ({ stop } = backend);
    db = await freshDatabase('bff');
    const settings = { program: `due${randomUUID().slice(0, 8)}`, connectionString: db.url, redisUrl: backend.url };
    const rules = { attempts: 1, backoff: false as const, deadlineMs: 60_000 };
    module = await Test.createTestingModule({
      imports: [QueueModule.forRoot(settings), QueueModule.register('sync', rules)],
    }).compile();
    await module.init();
    queue = module.get<Queue>(getQueueToken('sync'));
  });
  afterAll(async () => {
    await module.close();
    await db.close();
    await stop();
  });
  beforeEach(async () => {
    await queue.obliterate({ force: true });
    await scheduleAccounts(db.url, { total: 5_000, due: 2_500 });
    const { rows } = await db.pool.query<{ id: string }>(
      'select account_id as id from account_schedules where due_at <= now()',
    );
    ids = rows.map(({ id }) => id);
  });

  const waiting = async (): Promise<string[]> =>
    (await queue.getJobs(['waiting', 'prioritized', 'active'])).map(({ data }) => (data as { id: string }).id);

  it('is one job for each account, however many schedulers look at once', async () => {
    expect(ids).toHaveLength(2_500);
    await Promise.all([1, 2, 3, 4].map(() => enqueueDueSyncs(db.pool, queue)));
    expect((await waiting()).toSorted()).toEqual(ids.toSorted());
    await enqueueDueSyncs(db.pool, queue);
    await later(2 * handMs, () => enqueueDueSyncs(db.pool, queue));
    expect((await waiting()).toSorted()).toEqual(ids.toSorted());
  });

  it('is found again by the next tick when the queue was wiped', async () => {
    await enqueueDueSyncs(db.pool, queue);
    await queue.obliterate({ force: true });
    expect(await waiting()).toEqual([]);
    await enqueueDueSyncs(db.pool, queue);
    expect((await waiting()).toSorted()).toEqual(ids.toSorted());
  });

  it('is handed out the longest overdue first, and what is in hand not twice', async () => {
    const { rows } = await db.pool.query<{ account_id: string }>(
      'select account_id from account_schedules order by due_at limit 10',
    );
    const first = await takeReadyAccounts(db.pool, 10);
    expect(first.toSorted()).toEqual(rows.map(({ account_id: id }) => id).toSorted());
    const taken = [...first];
    for (;;) {
      const more = await takeReadyAccounts(db.pool, 1_000);
      taken.push(...more);
      if (more.length === 0) break;
    }
    expect(new Set(taken).size).toBe(taken.length);
    expect(taken).toHaveLength(ids.length);
  });
});
