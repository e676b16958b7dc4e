import { randomUUID } from 'node:crypto';

/** A pool, or a client inside a transaction. */
export interface Queryable {
  query<Row extends object>(text: string, values?: unknown[]): Promise<{ rows: Row[]; rowCount: number | null }>;
}

export interface NewEvent {
  id: string;
  applicationId: string;
  category: string;
  /** The `event` member as JSON text, sealed. */
  payload: string;
  at: Date;
}

/**
 * Raises the application's event sequence; its row stays locked until the transaction ends, so the sequence has no gap.
 * False when the application has been deleted.
 */
export async function insertEvent(tx: Queryable, event: NewEvent): Promise<boolean> {
  const { id, applicationId, category, payload, at } = event;
  const { rowCount } = await tx.query(
    `WITH next AS (
       UPDATE applications SET event_sequence = event_sequence + 1 WHERE id = $2 RETURNING event_sequence)
     INSERT INTO events (id, application_id, sequence, category, payload, created_at)
     SELECT $1, $2, event_sequence, $3, $4, $5 FROM next`,
    [id, applicationId, category, payload, at],
  );
  return rowCount === 1;
}

/** One delivery for each webhook of the application that wants the category now; answers their ids. */
export async function insertDeliveries(
  tx: Queryable,
  { id: eventId, applicationId, category, at }: NewEvent,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `INSERT INTO deliveries (id, application_id, event_id, webhook_id, status, rounds, next_attempt_at, created_at)
     SELECT gen_random_uuid(), $2, $1, id, 'PENDING', 0, $4, $4
       FROM webhooks WHERE application_id = $2 AND status = 'active' AND $3 = ANY (categories)
     RETURNING id`,
    [eventId, applicationId, category, at],
  );
  return rows.map(({ id }) => id);
}

/** Everything one round of a delivery needs. */
export interface ClaimedDelivery {
  id: string;
  applicationId: string;
  eventId: string;
  webhookId: string;
  rounds: number;
  /** Also the proof that this worker holds it: a later claim has a later end. */
  leasedUntil: Date;
  category: string;
  /** Sealed. */
  payload: string;
  mainUrl: string;
  backupUrl: string | null;
  metadata: Record<string, string> | null;
  sealedSecret: string;
  nextSealedSecret: string | null;
  nextSecretAt: Date | null;
}

/**
 * Takes a delivery in hand until `leasedUntil`. Undefined when there is nothing to do: it is finished, not yet due,
 * its webhook is paused, or another worker has it.
 */
export async function claimDelivery(
  db: Queryable,
  id: string,
  { at, leasedUntil }: { at: Date; leasedUntil: Date },
): Promise<ClaimedDelivery | undefined> {
  const { rows } = await db.query<ClaimedDelivery>(
    `UPDATE deliveries d SET leased_until = $3
       FROM events e, webhooks w
      WHERE d.id = $1 AND e.id = d.event_id AND w.id = d.webhook_id AND w.status = 'active'
        AND d.status = 'PENDING' AND d.next_attempt_at <= $2 AND (d.leased_until IS NULL OR d.leased_until <= $2)
     RETURNING d.id, d.application_id AS "applicationId", d.event_id AS "eventId", d.webhook_id AS "webhookId", d.rounds,
               d.leased_until AS "leasedUntil", e.category, e.payload, w.main_url AS "mainUrl",
               w.backup_url AS "backupUrl", w.metadata, w.sealed_secret AS "sealedSecret",
               w.next_sealed_secret AS "nextSealedSecret", w.next_secret_at AS "nextSecretAt"`,
    [id, at, leasedUntil],
  );
  return rows[0];
}

/** Deletes events from before an instant, with their deliveries, but none that somebody is still to be told of; answers how many. */
export async function deleteOldEvents(db: Queryable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM events WHERE id IN (
       SELECT id FROM events e WHERE created_at < $1
          AND NOT EXISTS (SELECT FROM deliveries WHERE event_id = e.id AND status = 'PENDING')
        ORDER BY created_at LIMIT $2)`,
    [before, limit],
  );
  return rowCount ?? 0;
}

/** How a round ended, in the columns' own terms. */
export interface RoundResult {
  status: 'PENDING' | 'DELIVERED' | 'DEAD';
  nextAttemptAt: Date | null;
  finishedAt: Date | null;
}

/** Ends a round; false when the lease had run out and another worker has taken over. */
export async function finishRound(
  tx: Queryable,
  { id, rounds, leasedUntil }: ClaimedDelivery,
  { status, nextAttemptAt, finishedAt }: RoundResult,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE deliveries
        SET status = $4, rounds = rounds + 1, next_attempt_at = $5, finished_at = $6, leased_until = NULL
      WHERE id = $1 AND rounds = $2 AND leased_until = $3 AND status = 'PENDING'`,
    [id, rounds, leasedUntil, status, nextAttemptAt, finishedAt],
  );
  return rowCount === 1;
}

export interface AttemptRow {
  target: 'main' | 'backup';
  startedAt: Date;
  durationMs: number;
  httpStatus: number | null;
  failure: string | null;
}

/** Records one request of a round. */
export async function insertAttempt(
  tx: Queryable,
  { id, rounds }: ClaimedDelivery,
  attempt: AttemptRow,
): Promise<void> {
  const { target, startedAt, durationMs, httpStatus, failure } = attempt;
  await tx.query(
    `INSERT INTO attempts (id, delivery_id, round, target, started_at, duration_ms, http_status, failure)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [randomUUID(), id, rounds + 1, target, startedAt, durationMs, httpStatus, failure],
  );
}

/** A delivery that is due, and how often it was tried: together they name its job. */
export interface DueDelivery {
  id: string;
  rounds: number;
}

/**
 * Due deliveries that no worker has in hand, the longest waiting first. Rows that another sweep is looking at are
 * passed over; nothing is changed, because the job names itself by delivery and round and so cannot run twice.
 */
export async function dueDeliveries(tx: Queryable, at: Date, limit: number): Promise<DueDelivery[]> {
  const { rows } = await tx.query<DueDelivery>(
    `SELECT d.id, d.rounds FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id AND w.status = 'active'
      WHERE d.status = 'PENDING' AND d.next_attempt_at <= $1 AND (d.leased_until IS NULL OR d.leased_until <= $1)
      ORDER BY d.next_attempt_at LIMIT $2 FOR UPDATE OF d SKIP LOCKED`,
    [at, limit],
  );
  return rows;
}

/** A delivery that was given up, as the operator sees it. */
export interface DeadDelivery {
  id: string;
  applicationId: string;
  category: string;
  rounds: number;
  finishedAt: Date;
}

/** The newest dead deliveries of all applications: an operator's command. */
export async function deadDeliveries(db: Queryable, limit: number): Promise<DeadDelivery[]> {
  const { rows } = await db.query<DeadDelivery>(
    `SELECT d.id, d.application_id AS "applicationId", e.category, d.rounds, d.finished_at AS "finishedAt"
       FROM deliveries d JOIN events e ON e.id = d.event_id
      WHERE d.status = 'DEAD' ORDER BY d.finished_at DESC LIMIT $1`,
    [limit],
  );
  return rows;
}

/** Makes a finished delivery due again; the sweep takes it from there. False when there is no such finished delivery. */
export async function replayDelivery(db: Queryable, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE deliveries SET status = 'PENDING', next_attempt_at = $2, finished_at = NULL, leased_until = NULL
      WHERE id = $1 AND status IN ('DEAD', 'DELIVERED')`,
    [id, at],
  );
  return rowCount === 1;
}
