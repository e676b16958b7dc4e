import { randomUUID } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { type FreshDatabase, freshDatabase } from '../../../test/support/postgres.js';
import { PrismaClient } from './generated/aggregator/client.js';
import type { AggregatorPrisma } from './prisma-clients.js';
import { asSystem, inScope } from './scope.js';

type Client = Pick<AggregatorPrisma, 'application' | 'user' | '$transaction'>;
type Run = <T>(work: () => T) => T;

let db: FreshDatabase<AggregatorPrisma>;
/** Prisma as it comes, on the same pool. */
let bare: PrismaClient;
const [one, other] = [randomUUID(), randomUUID()];
const users = new Map<string, string>([one, other].map((applicationId) => [applicationId, randomUUID()]));

beforeAll(async () => {
  db = await freshDatabase('aggregator');
  bare = new PrismaClient({ adapter: new PrismaPg(db.pool, { schema: 'aggregator' }) });
  const at = new Date('2026-11-21T09:00:00Z');
  await asSystem(async () => {
    for (const [id, userId] of users) {
      await db.prisma.application.create({ data: { id, name: id, createdAt: at, updatedAt: at } });
      await db.prisma.user.create({
        data: { id: userId, applicationId: id, applicationUserId: 'same', createdAt: at },
      });
    }
  });
});
afterAll(async () => {
  await bare.$disconnect();
  await db.close();
});

const asOne: Run = (work) => inScope([one], work);
const asOther: Run = (work) => inScope([other], work);
const asNobody: Run = (work) => work();

/** Everybody asks in one tick; the first may see everything. The rows they should not see are asked for by the rest. */
const callers: [run: Run, row: string, isTheirs: boolean][] = [
  [asSystem, one, true],
  [asOne, other, false],
  [asNobody, other, false],
  [asOther, other, true],
  [asOther, one, false],
  [asOne, one, true],
];
const expected = callers.map(([, , isTheirs]) => isTheirs);

/** Whether each caller saw the row it asked for, when all ask at once. */
function ask(see: (row: string) => Promise<boolean>): Promise<boolean[]> {
  return Promise.all(callers.map(([run, row]) => run(() => see(row))));
}

const findUnique = (client: Client) => async (id: string) =>
  (await client.application.findUnique({ where: { id } })) !== null;

const batch = (client: Client) => async (id: string) => {
  const [byId, all] = await client.$transaction([
    client.application.findUnique({ where: { id } }),
    client.application.findMany({ where: { id } }),
  ]);
  expect(all.length === 1).toBe(byId !== null);
  return byId !== null;
};

/** The second call is made in a later turn than the first, together with those of all the others. */
const nested = (client: Client) => async (id: string) => {
  await client.application.findUnique({ where: { id } });
  const found = await client.user.findUnique({ where: { id: users.get(id) ?? '' } });
  const owner = await client.application.findUnique({ where: { id }, include: { users: true } });
  expect(owner?.users.length === 1).toBe(found !== null);
  return found !== null;
};

const ways = { findUnique, batch, nested };

describe.each(Object.entries(ways))('Prisma as it comes, asked by %s', (_name, way) => {
  it('shows an application the rows of another, which is why scopes are kept apart', async () => {
    const seen = await ask(way(bare));
    const leaks = seen.filter((isSeen, n) => isSeen && !expected[n]);
    expect(leaks.length).toBeGreaterThan(0);
  });
});

describe.each(Object.entries(ways))('our Prisma, asked by %s', (_name, way) => {
  it('shows everybody their own rows, whoever asks in the same tick', async () => {
    for (let round = 0; round < 20; round++) expect(await ask(way(db.prisma))).toEqual(expected);
  });
});
