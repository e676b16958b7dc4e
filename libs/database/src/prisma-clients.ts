import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient as AggregatorClient } from './generated/aggregator/client.js';
import { PrismaClient as BffClient } from './generated/bff/client.js';
import { keepScopesApart } from './prisma-scopes.js';

/** The aggregator's tables. Tenant tables show nothing outside a scope: see `scopedTo`, `inScope`, `asSystem`. */
export class AggregatorPrisma extends AggregatorClient {
  constructor(pool: pg.Pool) {
    super({ adapter: new PrismaPg(pool, { schema: 'aggregator' }) });
    keepScopesApart(this);
  }
}

/** The BFF's tables. */
export class BffPrisma extends BffClient {
  constructor(pool: pg.Pool) {
    super({ adapter: new PrismaPg(pool, { schema: 'bff' }) });
  }
}

export function createAggregatorPrisma(pool: pg.Pool): AggregatorPrisma {
  return new AggregatorPrisma(pool);
}

export function createBffPrisma(pool: pg.Pool): BffPrisma {
  return new BffPrisma(pool);
}
