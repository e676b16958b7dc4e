import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Pool } from 'pg';
import { InjectQueue, POOL, type Queue } from '#libs/database';
import { createLogger } from '#libs/server';
import { jobOptions } from '../due-jobs.js';
import { GroupCommit } from './group-commit.js';
import { InboundStatus } from './inbound-state.js';

/** A verified delivery, ready to be stored. */
export interface InboundEvent {
  id: string;
  merchantId: string;
  deliveryId: string;
  bodyDigest: Buffer;
  type: string;
  sealedBody: string;
  receivedAt: Date;
}

const limits = { sizeMax: 200, commitsMax: 2, waitingMax: 5_000 };
const wakeEveryMs = 50;

/** Stores deliveries, each once, and wakes the worker. */
@Injectable()
export class InboundStore implements OnModuleDestroy {
  private readonly log = createLogger('ingestion');
  private readonly group = new GroupCommit<InboundEvent>((events) => this.insert(events), limits);
  private wakeTimer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @InjectQueue('ingestion') private readonly queue: Queue,
  ) {}

  /** Ends when the event is committed, or was before: by its delivery's id or by its body. */
  keep(event: InboundEvent): Promise<void> {
    return this.group.add(event);
  }

  onModuleDestroy(): void {
    clearTimeout(this.wakeTimer);
  }

  private async insert(events: InboundEvent[]): Promise<void> {
    // In one order everywhere, so that two groups with the same deliveries wait for each other and do not deadlock.
    const rows = events.toSorted((one, other) => (one.deliveryId < other.deliveryId ? -1 : 1));
    const { rowCount } = await this.pool.query({
      name: 'store-inbound-events',
      text: `insert into inbound_events
               (id, merchant_id, delivery_id, body_digest, type, sealed_body, status, attempts, received_at, next_attempt_at)
             select id, merchant_id, delivery_id, body_digest, type, sealed_body, $1, 0, received_at, received_at
             from unnest($2::uuid[], $3::uuid[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::timestamptz[])
               as t (id, merchant_id, delivery_id, body_digest, type, sealed_body, received_at)
             on conflict do nothing`,
      values: [
        InboundStatus.received,
        rows.map(({ id }) => id),
        rows.map(({ merchantId }) => merchantId),
        rows.map(({ deliveryId }) => deliveryId),
        rows.map(({ bodyDigest }) => bodyDigest),
        rows.map(({ type }) => type),
        rows.map(({ sealedBody }) => sealedBody),
        rows.map(({ receivedAt }) => receivedAt),
      ],
    });
    if (rowCount !== 0) this.wake();
  }

  /** The rows are what counts: if the queue takes no job now, the next tick finds them due. One job for all of a moment. */
  private wake(): void {
    this.wakeTimer ??= setTimeout(() => {
      this.wakeTimer = undefined;
      this.queue.add('wake', {}, { ...jobOptions, jobId: 'wake' }).catch((error: unknown) => {
        this.log.warn({ err: error }, 'events wait for the next tick');
      });
    }, wakeEveryMs).unref();
  }
}
