import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { InjectQueue, type Job, POOL, Processor, type Queue, SecretBox, transaction, WorkerHost } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { enqueueDue, runJob } from '../due-jobs.js';
import { appendEvent } from '../events/event-log.js';
import { type About, EventHandlers, UnknownObject } from './handlers.js';
import { InboundStatus, isOpen, nextAttemptSeconds } from './inbound-state.js';

interface InboundRow {
  id: string;
  merchant_id: string;
  type: string;
  sealed_body: string;
  status: string;
  attempts: number;
}

const due = { table: 'inbound_events', dueColumn: 'next_attempt_at', leaseColumn: 'lease_until', leaseMs: 60_000 };

/** Hands one stored event to its handler. What fails is parked and tried again until its patience ends. */
@Processor('ingestion', { concurrency: 8 })
export class IngestionProcessor extends WorkerHost {
  private readonly log = createLogger('ingestion');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @InjectQueue('ingestion') private readonly queue: Queue,
    private readonly box: SecretBox,
    private readonly handlers: EventHandlers,
  ) {
    super();
  }

  process(job: Job<{ id: string }>): Promise<void> {
    return runJob(this.log, job, () => {
      return job.name === 'tick' ? enqueueDue(this.pool, this.queue, due) : this.handle(job.data.id);
    });
  }

  /** Handles an event unless that has been done; ends well also when the handler failed, since the row says what is next. */
  async handle(id: string): Promise<void> {
    const { rows } = await this.pool.query<InboundRow>(
      'select id, merchant_id, type, sealed_body, status, attempts from inbound_events where id = $1',
      [id],
    );
    const row = rows[0];
    if (!row || !isOpen(row.status)) return;
    try {
      const body = JSON.parse(this.box.open(row.sealed_body, `inbound-event:${row.id}`)) as { event?: unknown };
      const about = await this.handlers.handle({ merchantId: row.merchant_id, type: row.type, event: body.event });
      await this.close(row, about);
    } catch (error) {
      await this.park(row, error);
    }
  }

  /** The merchant's log says once that the event was handled, however often it is. */
  private close({ id, merchant_id: merchantId, type }: InboundRow, about: About): Promise<void> {
    return transaction(this.pool, async (tx) => {
      const { rowCount } = await tx.query(
        `update inbound_events set status = $2, processed_at = $3, next_attempt_at = null, lease_until = null, attempts = attempts + 1,
           problem = null where id = $1 and status <> $2`,
        [id, InboundStatus.done, now()],
      );
      if (rowCount === 1) await appendEvent(tx, { merchantId, type: 'webhook.handled', data: { type, ...about } });
    });
  }

  private async park(row: InboundRow, error: unknown): Promise<void> {
    const attempts = row.attempts + 1;
    const seconds = nextAttemptSeconds(attempts);
    const problem = error instanceof UnknownObject ? 'unknown-object' : 'handler-failed';
    if (problem === 'handler-failed')
      this.log.warn({ err: error, inboundEventId: row.id, type: row.type, attempts }, 'an event was not handled');
    const next = seconds === undefined ? null : new Date(now().getTime() + seconds * 1000);
    await this.pool.query(
      'update inbound_events set status = $2, attempts = $3, problem = $4, next_attempt_at = $5, lease_until = null where id = $1',
      [row.id, next === null ? InboundStatus.dead : InboundStatus.parked, attempts, problem, next],
    );
  }
}
