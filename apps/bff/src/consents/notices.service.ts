import { Inject, Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { POOL, transaction } from '#libs/database';
import { now } from '#libs/server';
import { ConnectionStatus } from '../connections/connection-state.js';
import { moveConnection } from '../connections/connections.queries.js';
import { appendEvent } from '../events/event-log.js';
import { daysLeft, hasStopped } from './consent-clocks.js';
import { actionFor, linkFor } from './forecast.js';
import { type NoticePlan, takeNotice } from './notice-schedule.js';

/** Notices of one transaction, at most: the merchants' logs are locked while it lasts. */
const batchSize = 200;
const batchesMax = 50;

interface DueRow {
  id: string;
  merchant_id: string;
  customer_id: string;
  institution_id: string;
  consent_id: string | null;
  stops_at: Date;
  stop_cause: string;
  noticed_days: number | null;
}

/** Tells merchants that data will stop, each time once, and ends what has lapsed. */
@Injectable()
export class Notices {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** Deals with what is due, in batches; the cost follows what is due. Answers how many connections that were. */
  async run(): Promise<number> {
    let total = 0;
    for (let batch = 0; batch < batchesMax; batch += 1) {
      const taken = await transaction(this.pool, (tx) => this.runBatch(tx));
      total += taken;
      if (taken < batchSize) break;
    }
    return total;
  }

  /** Notice, plan and event are one transaction: a crash loses none and doubles none. */
  private async runBatch(tx: PoolClient): Promise<number> {
    const at = now();
    const { rows } = await tx.query<DueRow>(
      `select id, merchant_id, customer_id, institution_id, consent_id, stops_at, stop_cause, noticed_days from connections
       where next_notice_at <= $1 and status = $2 order by next_notice_at limit $3 for update skip locked`,
      [at, ConnectionStatus.active, batchSize],
    );
    // In one order everywhere, so that two workers never wait for each other's merchants.
    const due = rows.toSorted((one, other) => one.merchant_id.localeCompare(other.merchant_id));
    const taken = due.map((row) => ({ row, notice: takeNotice(row.stops_at, row.noticed_days, at) }));
    await savePlans(tx, taken);
    for (const { row, notice } of taken) {
      const { days } = notice;
      if (days !== undefined) await announce(tx, row, days, at);
      if (hasStopped(row.stops_at, at)) await lapse(tx, row);
    }
    return rows.length;
  }
}

async function savePlans(tx: PoolClient, taken: { row: DueRow; notice: { plan: NoticePlan } }[]): Promise<void> {
  await tx.query(
    `update connections c set next_notice_at = u.next, noticed_days = u.days
     from unnest($1::uuid[], $2::timestamptz[], $3::int[]) as u(id, next, days) where c.id = any($1) and c.id = u.id`,
    [
      taken.map(({ row }) => row.id),
      taken.map(({ notice }) => notice.plan.nextNoticeAt),
      taken.map(({ notice }) => notice.plan.noticedDays),
    ],
  );
}

async function announce(tx: PoolClient, row: DueRow, notice: number, at: Date): Promise<void> {
  const action = actionFor(row.stop_cause);
  await appendEvent(tx, {
    merchantId: row.merchant_id,
    customerId: row.customer_id,
    type: 'connection.expiring',
    data: {
      connectionId: row.id,
      institutionId: row.institution_id,
      notice,
      daysLeft: daysLeft(row.stops_at, at),
      cause: row.stop_cause,
      at: row.stops_at.toISOString(),
      action,
      link: linkFor(action, row.id) ?? null,
    },
  });
}

/** The clock is the proof: from here on only the customer can help, and no bank is asked in vain. */
async function lapse(tx: PoolClient, row: DueRow): Promise<void> {
  await moveConnection(tx, {
    id: row.id,
    to: ConnectionStatus.needsUser,
    reason: row.stop_cause,
    consentId: row.consent_id,
    columns: { next_sync_at: null },
  });
}
