import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POOL } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { Env } from '../config.js';
import { InboundStatus } from '../ingestion/inbound-state.js';

const dayMs = 86_400_000;
const batchMax = 10_000;
const batchesMax = 100;

/** What simply goes when it is old: of a table, rows of which a column is from before an instant. */
interface Ageing {
  table: string;
  column: string;
  keptDays: number;
  /** Which of them may go, if not all. */
  unless?: string;
}

/** That a connection has ever shown accounts must stay known as long as the connection: by this run, if no later one says so. */
const isLastToTell = `not exists (
  select from sync_runs later where later.connection_id = old.connection_id and later.started_at > old.started_at and later.accounts > 0)`;

/** Forgets what is past its retention: events with their deliveries, webhooks that came in, proofs, secrets that sign no more. */
@Injectable()
export class RetentionService {
  private readonly log = createLogger('retention');
  private readonly keptMs: number;
  private readonly ageing: readonly Ageing[];

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @Inject(Env) env: Env,
  ) {
    this.keptMs = env.EVENT_RETENTION_DAYS * dayMs;
    const proofs = { keptDays: env.PROOF_RETENTION_DAYS };
    this.ageing = [
      { table: 'sync_runs', column: 'ended_at', keptDays: env.EVENT_RETENTION_DAYS, unless: isLastToTell },
      { table: 'renewal_links', column: 'expires_at', keptDays: env.EVENT_RETENTION_DAYS },
      { table: 'deletions', column: 'completed_at', ...proofs },
      { table: 'withdrawals', column: 'withdrawn_at', ...proofs },
      { table: 'payment_records', column: 'created_at', keptDays: env.PAYMENT_RECORD_RETENTION_DAYS },
    ];
  }

  /** In batches, each a statement; what one sweep leaves, the next one takes. */
  async sweep(): Promise<void> {
    const before = new Date(now().getTime() - this.keptMs);
    const events = await inBatches(() => this.sweepEvents(before));
    const inbound = await inBatches(() => this.sweepInbound(before));
    await this.pool.query('delete from endpoint_secrets where expires_at < $1', [before]);
    await this.sweepStaged();
    for (const each of this.ageing) await inBatches(() => this.sweepOld(each));
    if (events + inbound > 0) this.log.info({ events, inbound }, 'forgotten after their retention');
  }

  /**
   * The log loses its oldest part as a whole, and the merchant's row says up to where, so that a pull from before it is
   * refused and not quietly cut. Deliveries go with their events.
   */
  private async sweepEvents(before: Date): Promise<number> {
    const { rowCount } = await this.pool.query(
      `with old as (select merchant_id, sequence from events where created_at < $1 order by created_at limit $2),
       ends as (select merchant_id, max(sequence) as last from old group by merchant_id),
       marked as (
         update merchants m set events_swept_to = greatest(m.events_swept_to, ends.last)
         from ends where m.id = ends.merchant_id returning m.id, ends.last)
       delete from events e using marked where e.merchant_id = marked.id and e.sequence <= marked.last`,
      [before, batchMax],
    );
    return rowCount ?? 0;
  }

  /** A reading that was under way while its customer was deleted may have put a last page aside; no foreign key holds it. */
  private async sweepStaged(): Promise<void> {
    await this.pool.query(
      'delete from staged_rows s where not exists (select from accounts where accounts.id = s.account_id)',
    );
  }

  private async sweepOld({ table, column, keptDays, unless }: Ageing): Promise<number> {
    const before = new Date(now().getTime() - keptDays * dayMs);
    const { rowCount } = await this.pool.query(
      `delete from ${table} where id in (
         select id from ${table} old where ${column} < $1 ${unless === undefined ? '' : `and not ${unless}`} limit $2)`,
      [before, batchMax],
    );
    return rowCount ?? 0;
  }

  private async sweepInbound(before: Date): Promise<number> {
    const { rowCount } = await this.pool.query(
      `delete from inbound_events where id in (
         select id from inbound_events where status = any ($1) and received_at < $2 limit $3)`,
      [[InboundStatus.done, InboundStatus.dead], before, batchMax],
    );
    return rowCount ?? 0;
  }
}

async function inBatches(batch: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let count = 0; count < batchesMax; count += 1) {
    const swept = await batch();
    total += swept;
    if (swept < batchMax) break;
  }
  return total;
}
