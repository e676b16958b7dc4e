import type { Pool } from 'pg';
import { asSystem } from '#libs/database';
import { now } from '#libs/server';
import { type DeadDelivery, deadDeliveries, replayDelivery } from './delivery.queries.js';

const deadMax = 200;

/** The operator's view of the outbox, across all applications. */
export class OutboxService {
  constructor(private readonly pool: Pool) {}

  /** The newest 200 deliveries that were given up. */
  dead(): Promise<DeadDelivery[]> {
    return asSystem(() => deadDeliveries(this.pool, deadMax));
  }

  /** Makes a finished delivery due again; the worker's sweep finds it. */
  async replay(id: string): Promise<void> {
    const isDue = await asSystem(() => replayDelivery(this.pool, id, now()));
    if (!isDue) throw new Error(`There is no finished delivery ${id}`);
  }
}
