import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Pool } from 'pg';
import { POOL } from '#libs/database';
import { createLogger } from '#libs/server';
import type { EventSelection } from './events.queries.js';

interface Waiter extends EventSelection {
  wake: () => void;
}

interface Tail {
  /** The newest event that we know of. */
  position: number;
  waiters: Set<Waiter>;
}

interface NewEventRow {
  merchant_id: string;
  sequence: string;
  type: string;
  customer_id: string | null;
}

const pollMs = 250;
const newsMax = 1_000;

/**
 * Tells those who wait for events that some have come. One query every quarter of a second for all of them together, and
 * none while nobody waits: a hundred open streams cost the database no more than one.
 */
@Injectable()
export class EventTail implements OnModuleDestroy {
  private readonly log = createLogger('events');
  private readonly tails = new Map<string, Tail>();
  private timer: NodeJS.Timeout | undefined;
  private isEnding = false;

  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** Ends when there may be an event of the selection after its place, when the time is up, or when nobody waits any more. */
  wait(
    selection: EventSelection & { after: number },
    { ms, signal }: { ms: number; signal: AbortSignal },
  ): Promise<void> {
    const { merchantId, after } = selection;
    const tail = this.tails.get(merchantId) ?? { position: after, waiters: new Set<Waiter>() };
    if (tail.position > after || signal.aborted || this.isEnding) return Promise.resolve();
    this.tails.set(merchantId, tail);
    return new Promise((done) => {
      const waiter: Waiter = {
        ...selection,
        wake: () => {
          clearTimeout(late);
          signal.removeEventListener('abort', waiter.wake);
          tail.waiters.delete(waiter);
          if (tail.waiters.size === 0) this.tails.delete(merchantId);
          done();
        },
      };
      const late = setTimeout(waiter.wake, ms).unref();
      signal.addEventListener('abort', waiter.wake, { once: true });
      tail.waiters.add(waiter);
      this.pollSoon();
    });
  }

  onModuleDestroy(): void {
    this.isEnding = true;
    clearTimeout(this.timer);
  }

  private pollSoon(): void {
    if (this.timer !== undefined || this.isEnding) return;
    this.timer = setTimeout(() => {
      this.poll()
        .catch((error: unknown) => this.log.warn({ err: error }, 'open streams hear of new events later'))
        .finally(() => {
          this.timer = undefined;
          if (this.tails.size > 0) this.pollSoon();
        });
    }, pollMs).unref();
  }

  private async poll(): Promise<void> {
    const tails = [...this.tails];
    const { rows } = await this.pool.query<NewEventRow>(
      `select e.* from unnest($1::uuid[], $2::bigint[]) as known (merchant_id, position) cross join lateral (
         select merchant_id, sequence, type, customer_id from events
         where merchant_id = known.merchant_id and sequence > known.position order by sequence limit $3) e`,
      [tails.map(([merchantId]) => merchantId), tails.map(([, { position }]) => position), newsMax],
    );
    for (const row of rows) {
      const tail = this.tails.get(row.merchant_id);
      if (!tail) continue;
      tail.position = Math.max(tail.position, Number(row.sequence));
      for (const waiter of tail.waiters) if (matches(waiter, row)) waiter.wake();
    }
  }
}

function matches({ customerId, types }: EventSelection, row: NewEventRow): boolean {
  return (customerId === undefined || customerId === row.customer_id) && (!types || types.includes(row.type));
}
