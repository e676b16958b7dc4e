import type { Pool } from 'pg';
import { now } from '#libs/server';
import { InboundStatus } from './inbound-state.js';

/** A webhook that was not handled, or not yet. */
export interface DeadLetter {
  id: string;
  merchantId: string;
  type: string;
  attempts: number;
  problem: string | null;
  receivedAt: string;
  /** When a parked one is tried again. */
  nextAttemptAt?: string;
}

/** Which of them; whatever is absent does not narrow. */
export interface LetterFilter {
  merchantId?: string | undefined;
  type?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

interface LetterRow {
  id: string;
  merchant_id: string;
  type: string;
  attempts: number;
  problem: string | null;
  received_at: Date;
  next_attempt_at: Date | null;
}

const narrowed = `status = $1 and ($2::uuid is null or merchant_id = $2) and ($3::text is null or type = $3)
  and ($4::timestamptz is null or received_at >= $4) and ($5::timestamptz is null or received_at < $5)`;

function values(status: InboundStatus, { merchantId, type, since, until }: LetterFilter): unknown[] {
  return [status, merchantId ?? null, type ?? null, since ?? null, until ?? null];
}

/** The operator's view of what could not be handled. */
export class DeadLetters {
  constructor(private readonly pool: Pool) {}

  /** The newest first: dead ones, or those that are parked. */
  async list(filter: LetterFilter = {}, status: 'dead' | 'parked' = 'dead', limit = 100): Promise<DeadLetter[]> {
    const { rows } = await this.pool.query<LetterRow>(
      `select id, merchant_id, type, attempts, problem, received_at, next_attempt_at from inbound_events
       where ${narrowed} order by received_at desc limit $6`,
      [...values(status, filter), limit],
    );
    return rows.map((row) => ({
      id: row.id,
      merchantId: row.merchant_id,
      type: row.type,
      attempts: row.attempts,
      problem: row.problem,
      receivedAt: row.received_at.toISOString(),
      ...(row.next_attempt_at === null ? {} : { nextAttemptAt: row.next_attempt_at.toISOString() }),
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

  /** Makes all dead ones that match due again; answers how many. */
  async replayAll(filter: LetterFilter): Promise<number> {
    const { rowCount } = await this.pool.query(
      `update inbound_events set status = $6, attempts = 0, problem = null, next_attempt_at = $7, lease_until = null
       where ${narrowed}`,
      [...values(InboundStatus.dead, filter), InboundStatus.received, now()],
    );
    return rowCount ?? 0;
  }
}
