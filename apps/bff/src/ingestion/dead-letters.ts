import type { Pool } from 'pg';
import { now } from '#libs/server';
import { InboundStatus } from './inbound-state.js';

/** A webhook whose handling was given up. */
export interface DeadLetter {
  id: string;
  merchantId: string;
  type: string;
  attempts: number;
  problem: string | null;
  receivedAt: string;
}

interface DeadRow {
  id: string;
  merchant_id: string;
  type: string;
  attempts: number;
  problem: string | null;
  received_at: Date;
}

/** The operator's view of what could not be handled. */
export class DeadLetters {
  constructor(private readonly pool: Pool) {}

  /** The newest hundred. */
  async list(): Promise<DeadLetter[]> {
    const { rows } = await this.pool.query<DeadRow>(
      `select id, merchant_id, type, attempts, problem, received_at from inbound_events
       where status = $1 order by received_at desc limit 100`,
      [InboundStatus.dead],
    );
    return rows.map((row) => ({
      id: row.id,
      merchantId: row.merchant_id,
      type: row.type,
      attempts: row.attempts,
      problem: row.problem,
      receivedAt: row.received_at.toISOString(),
    }));
  }

  /** Makes an event due again, also one that was handled: handlers are idempotent. False when there is none of this id. */
  async replay(id: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `update inbound_events set status = $2, attempts = 0, problem = null, next_attempt_at = $3, lease_until = null where id::text = $1`,
      [id, InboundStatus.received, now()],
    );
    return rowCount === 1;
  }
}
