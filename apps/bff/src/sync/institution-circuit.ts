import type { Pool, PoolClient } from 'pg';
import { transaction } from '#libs/database';
import { now } from '#libs/server';
import { appendEvent } from '../events/event-log.js';

/** Failures in a row, of different connections, after which an institution is taken to be out. */
export const failuresMax = 5;

const probeSeconds = [60, 120, 300, 600, 900, 1_800] as const;
/** A worker that has a probe in hand and dies gives way to the next after this. */
const probeHandMs = 90_000;

/** Whether calls may be made now; when they may not, when to come back. */
export type Passage = { open: true } | { open: false; comeBackAt: Date };

/**
 * Asks whether an institution may be called. While it is out one worker at a time is let through, when a probe is due;
 * everybody else is told when to come back.
 */
export async function passCircuit(pool: Pool, institutionId: string): Promise<Passage> {
  const at = now();
  const { rows } = await pool.query<{ opened_at: Date | null; probe_at: Date | null }>(
    'select opened_at, probe_at from institution_circuits where institution_id = $1',
    [institutionId],
  );
  const circuit = rows[0];
  if (!circuit?.opened_at) return { open: true };
  const { rowCount } = await pool.query(
    'update institution_circuits set probe_at = $3 where institution_id = $1 and opened_at is not null and probe_at <= $2',
    [institutionId, at, new Date(at.getTime() + probeHandMs)],
  );
  if (rowCount === 1) return { open: true };
  const soon = new Date(at.getTime() + (probeSeconds[0] * 1000) / 2);
  return { open: false, comeBackAt: circuit.probe_at && circuit.probe_at > soon ? circuit.probe_at : soon };
}

/** The institution has answered: whatever was counted against it is forgotten, and an outage is over. */
export async function institutionAnswered(pool: Pool, institutionId: string): Promise<void> {
  const { rows } = await pool.query(
    'select 1 from institution_circuits where institution_id = $1 and (failures > 0 or opened_at is not null)',
    [institutionId],
  );
  if (rows.length === 0) return;
  await transaction(pool, async (tx) => {
    const { rows: before } = await tx.query<{ opened_at: Date | null }>(
      'select opened_at from institution_circuits where institution_id = $1 for update',
      [institutionId],
    );
    await tx.query(
      `update institution_circuits set failures = 0, last_connection_id = null, opened_at = null, probe_at = null, probes = 0
       where institution_id = $1`,
      [institutionId],
    );
    if (before[0]?.opened_at) await tellMerchants(tx, institutionId, 'institution.outage-ended', before[0].opened_at);
  });
}

/**
 * The institution has failed a call of this connection. Failures of one connection alone never open the circuit: that is an
 * ill connection, not an outage. Opening it and telling the merchants is one transaction.
 */
export async function institutionFailed(pool: Pool, institutionId: string, connectionId: string): Promise<void> {
  const at = now();
  await transaction(pool, async (tx) => {
    const { rows } = await tx.query<{ failures: number; opened_at: Date | null; probes: number }>(
      `insert into institution_circuits as c (institution_id, failures, last_connection_id) values ($1, 1, $2)
       on conflict (institution_id) do update set last_connection_id = excluded.last_connection_id,
         failures = c.failures + case when c.last_connection_id is not distinct from excluded.last_connection_id then 0 else 1 end
       returning failures, opened_at, probes`,
      [institutionId, connectionId],
    );
    const circuit = rows[0];
    if (!circuit || (circuit.opened_at === null && circuit.failures < failuresMax)) return;
    const wait = probeSeconds[Math.min(circuit.probes, probeSeconds.length - 1)] ?? 1_800;
    await tx.query(
      `update institution_circuits set opened_at = coalesce(opened_at, $2), probe_at = $3, probes = probes + 1
       where institution_id = $1`,
      [institutionId, at, new Date(at.getTime() + wait * 1000)],
    );
    if (circuit.opened_at === null) await tellMerchants(tx, institutionId, 'institution.outage-began', at);
  });
}

/** Every merchant with a customer at the institution; in one order everywhere, so that two outages never wait for each other. */
async function tellMerchants(
  tx: PoolClient,
  institutionId: string,
  type: 'institution.outage-began' | 'institution.outage-ended',
  since: Date,
): Promise<void> {
  const { rows } = await tx.query<{ merchant_id: string }>(
    `select distinct merchant_id from connections where institution_id = $1 and status = 'active' order by merchant_id`,
    [institutionId],
  );
  const data = { institutionId, since: since.toISOString() };
  for (const { merchant_id: merchantId } of rows) await appendEvent(tx, { merchantId, type, data });
}
