import { Inject, Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { POOL, transaction } from '#libs/database';
import { now } from '#libs/server';
import { ConnectionStatus, isReadable } from '../connections/connection-state.js';
import { moveConnection } from '../connections/connections.queries.js';
import { appendEvents, type BatchedEvent } from '../events/event-batch.js';
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
  status: string;
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

  /** Notices, plans and events are one transaction: a crash loses none and doubles none. */
  private async runBatch(tx: PoolClient): Promise<number> {
    const at = now();
    // Only what is active has a notice planned; asking for nothing else lets the index on the plan answer alone.
    const { rows } = await tx.query<DueRow>(
      `select id, merchant_id, customer_id, institution_id, consent_id, status, stops_at, stop_cause, noticed_days
       from connections where next_notice_at <= $1 order by next_notice_at limit $2 for no key update skip locked`,
      [at, batchSize],
    );
    const taken = rows.map((row) => ({ row, notice: takeNotice(row.stops_at, row.noticed_days, at) }));
    await savePlans(tx, taken);
    const news = taken.filter(({ row }) => isReadable(row.status));
    await appendEvents(
      tx,
      news.flatMap(({ row, notice: { days } }) => (days === undefined ? [] : [announcement(row, days, at)])),
    );
    // In one order everywhere, so that two workers never wait for each other's merchants.
    const lapsed = news.filter(({ row }) => hasStopped(row.stops_at, at));
    const inOrder = lapsed.toSorted((one, other) => one.row.merchant_id.localeCompare(other.row.merchant_id));
    for (const { row } of inOrder) await lapse(tx, row);
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

function announcement(row: DueRow, notice: number, at: Date): BatchedEvent {
  const action = actionFor(row.stop_cause);
  return {
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
  };
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
