import { Inject } from '@nestjs/common';
import type { Pool } from 'pg';
import { type Job, POOL, Processor, SecretBox, takeDue, transaction, WorkerHost } from '#libs/database';
import { createLogger, newTracingId, now, runWithTracing } from '#libs/server';
import { runJob } from '../due-jobs.js';
import { appendEvent } from '../events/event-log.js';
import { type About, erased, EventHandlers, UnknownObject } from './handlers.js';
import { InboundStatus, isOpen, nextAttemptSeconds } from './inbound-state.js';

interface InboundRow {
  id: string;
  merchant_id: string;
  type: string;
  sealed_body: string;
  status: string;
  attempts: number;
}

/** Each handler's call to the aggregator has a deadline of 30 s, so a round is over long before its lease. */
const due = {
  table: 'inbound_events',
  dueColumn: 'next_attempt_at',
  leaseColumn: 'lease_until',
  leaseMs: 60_000,
  limit: 8,
};
const roundsMax = 500;

/** Hands the stored events to their handlers. What fails is parked and tried again until its patience ends. */
@Processor('ingestion', { concurrency: 2 })
export class IngestionProcessor extends WorkerHost {
  private readonly log = createLogger('ingestion');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly box: SecretBox,
    private readonly handlers: EventHandlers,
  ) {
    super();
  }

  /** A tick, or a receiver that wakes us: both mean that something may be due. */
  process(job: Job<{ id: string }>, _token?: string, signal?: AbortSignal): Promise<void> {
    return runJob(this.log, job, () => this.handleDue(signal));
  }

  /** Handles what is due, some at a time, until nothing is. */
  async handleDue(signal?: AbortSignal): Promise<void> {
    for (let round = 0; round < roundsMax; round += 1) {
      signal?.throwIfAborted();
      const rows = await takeDue<InboundRow>(this.pool, due);
      if (rows.length === 0) return;
      await Promise.all(rows.map((row) => runWithTracing(newTracingId(), () => this.handOver(row))));
    }
  }

  /** Handles an event unless that has been done; ends well also when the handler failed, since the row says what is next. */
  async handle(id: string): Promise<void> {
    const { rows } = await this.pool.query<InboundRow>(
      'select id, merchant_id, type, sealed_body, status, attempts from inbound_events where id = $1',
      [id],
    );
    if (rows[0]) await this.handOver(rows[0]);
  }

  private async handOver(row: InboundRow): Promise<void> {
    if (!isOpen(row.status)) return;
    try {
      const body = JSON.parse(this.box.open(row.sealed_body, `inbound-event:${row.id}`)) as { event?: unknown };
      const about = await this.handlers.handle({ merchantId: row.merchant_id, type: row.type, event: body.event });
      if (about === erased) await this.forget(row);
      else await this.close(row, about);
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

  private async forget({ id }: InboundRow): Promise<void> {
    await this.pool.query('delete from inbound_events where id = $1', [id]);
  }

  /** Says nothing about a row that another worker, which took it when our lease was over, has dealt with meanwhile. */
  private async park(row: InboundRow, error: unknown): Promise<void> {
    const attempts = row.attempts + 1;
    const seconds = nextAttemptSeconds(attempts);
    const problem = error instanceof UnknownObject ? 'unknown-object' : 'handler-failed';
    if (problem === 'handler-failed')
      this.log.warn({ err: error, inboundEventId: row.id, type: row.type, attempts }, 'an event was not handled');
    const next = seconds === undefined ? null : new Date(now().getTime() + seconds * 1000);
    await this.pool.query(
      `update inbound_events set status = $2, attempts = $3, problem = $4, next_attempt_at = $5, lease_until = null
        where id = $1 and attempts = $6`,
      [row.id, next === null ? InboundStatus.dead : InboundStatus.parked, attempts, problem, next, row.attempts],
    );
  }
}
