import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { AggregatorPrisma, BffPrisma, createPool } from '#libs/database';

export interface FreshDatabase<Prisma> {
  /** A superuser's connection string: bypasses row level security, which `pool` and `prisma` do not. */
  url: string;
  /** Works as the program does, under its role and in its schema. */
  pool: pg.Pool;
  prisma: Prisma;
  /** Closes the pool and drops the database. */
  close(): Promise<void>;
}

export function freshDatabase(
  program: 'aggregator',
  onChange?: (tag: string) => void,
): Promise<FreshDatabase<AggregatorPrisma>>;
export function freshDatabase(program: 'bff'): Promise<FreshDatabase<BffPrisma>>;
/** A migrated database of the suite's own; some 50 ms. `onChange` hears of a row before the query that changed it is done. */
export async function freshDatabase(
  program: 'aggregator' | 'bff',
  onChange?: (tag: string) => void,
): Promise<FreshDatabase<AggregatorPrisma | BffPrisma>> {
  const { url, drop } = await makeDatabase(inject('templates')[program]);
  const pool = createPool({ connectionString: url, schema: program, ...(onChange && { onChange }) });
  const prisma = program === 'aggregator' ? new AggregatorPrisma(pool) : new BffPrisma(pool);
  return {
    url,
    pool,
    prisma,
    close: async () => {
      await prisma.$disconnect();
      if (!pool.ended && !pool.ending) await pool.end();
      await drop();
    },
  };
}

/** A database without any of our tables, for tests of the migrations themselves. */
export function emptyDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  return makeDatabase('template0');
}

async function makeDatabase(template: string): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function onServer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
