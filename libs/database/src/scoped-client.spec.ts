import { randomUUID } from 'node:crypto';
import { type FreshDatabase, freshDatabase } from '../../../test/support/postgres.js';
import type { AggregatorPrisma } from './prisma-clients.js';
import { asSystem, inScope } from './scope.js';
import { scopedTo } from './scoped-client.js';
import { transaction } from './transaction.js';

describe('what an application can see', () => {
  let db: FreshDatabase<AggregatorPrisma>;
  const [ours, theirs] = [randomUUID(), randomUUID()];

  beforeAll(async () => {
    db = await freshDatabase('aggregator');
    await asSystem(async () => {
      const at = new Date('2026-11-21T09:00:00Z');
      for (const id of [ours, theirs]) {
        await db.prisma.application.create({ data: { id, name: id, createdAt: at, updatedAt: at } });
        await db.prisma.user.create({ data: { applicationId: id, applicationUserId: 'same', createdAt: at } });
      }
    });
  });
  afterAll(() => db.close());

  it('is its own rows, by Prisma and by SQL without any filter', async () => {
    const users = await scopedTo(db.prisma, [ours]).user.findMany();
    expect(users.map(({ applicationId }) => applicationId)).toEqual([ours]);
    const raw = await inScope([ours], () => db.pool.query('SELECT application_id FROM users'));
    expect(raw.rows).toEqual([{ application_id: ours }]);
  });

  it('is nothing where no scope was said, and what was said last is not remembered', async () => {
    await asSystem(() => db.pool.query('SELECT 1'));
    expect((await db.pool.query('SELECT 1 FROM users')).rowCount).toBe(0);
    expect(await db.prisma.user.count()).toBe(0);
    expect((await db.pool.query('SELECT 1 FROM applications')).rowCount).toBe(0);
  });

  it('cannot be changed into somebody else’s, nor written for them', async () => {
    const text = 'UPDATE users SET application_user_id = $1 WHERE application_id = $2';
    expect((await inScope([ours], () => db.pool.query(text, ['stolen', theirs]))).rowCount).toBe(0);
    const insert = 'INSERT INTO users (id, application_id, created_at) VALUES ($1, $2, now())';
    const forged = inScope([ours], () => db.pool.query(insert, [randomUUID(), theirs]));
    await expect(forged).rejects.toThrow('row-level security');
    const scoped = scopedTo(db.prisma, [ours]);
    expect((await scoped.user.deleteMany({ where: { applicationId: theirs } })).count).toBe(0);
  });

  it('holds throughout a transaction, whatever runs beside it', async () => {
    const counts = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        inScope(n % 2 === 0 ? [ours] : [ours, theirs], () =>
          transaction(db.pool, async (tx) => {
            const first = (await tx.query('SELECT 1 FROM users')).rowCount;
            const second = (await tx.query('SELECT 1 FROM users')).rowCount;
            return [first, second];
          }),
        ),
      ),
    );
    for (const [n, pair] of counts.entries()) expect(pair).toEqual(n % 2 === 0 ? [1, 1] : [2, 2]);
  });

  it('is refused to anybody who would name another thing than an application', () => {
    expect(() => inScope(['*'], () => 0)).toThrow('UUID');
    expect(() => inScope([`${ours},*`], () => 0)).toThrow('UUID');
  });

  it('is decided by a role that cannot bypass the rules', async () => {
    const { rows } = await db.pool.query<{ bypass: boolean; super: boolean }>(
      'SELECT rolbypassrls AS bypass, rolsuper AS super FROM pg_roles WHERE rolname = current_user',
    );
    expect(rows).toEqual([{ bypass: false, super: false }]);
  });

  it('covers every table with rows of an application', async () => {
    const { rows } = await db.pool.query<{ relname: string }>(
      `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'aggregator' AND c.relkind = 'r' AND NOT (c.relrowsecurity AND c.relforcerowsecurity)`,
    );
    expect(rows.map(({ relname }) => relname)).toEqual(['_prisma_migrations']);
  });
});
