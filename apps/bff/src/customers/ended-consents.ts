import type { Pool } from 'pg';
import { transaction } from '#libs/database';
import { now } from '#libs/server';
import { ConnectionStatus } from '../connections/connection-state.js';
import { lockConnection } from '../connections/connection-lock.js';
import { moveConnection } from '../connections/connections.queries.js';
import { replaceOpenRenewals } from '../connections/renewals.queries.js';
import { retire } from '../consents/withdrawals.queries.js';
import { ConsentOutcome, type DeletedConsent } from './deletion.dto.js';

/** Ends a customer's connections here, at once; each consent is from then on a withdrawal, tried until its bank accepts it. */
export async function endConnections(pool: Pool, connections: readonly { id: string; merchantId: string }[]) {
  for (const { id, merchantId } of connections) {
    await transaction(pool, async (tx) => {
      const consentId = (await lockConnection(tx, id))?.consent_id ?? null;
      const columns = { sealed_consent_token: null, next_sync_at: null, next_probe_at: null };
      const reason = 'customer-deleted';
      if (!(await moveConnection(tx, { id, to: ConnectionStatus.revoked, reason, columns }))) return;
      await replaceOpenRenewals(tx, { connectionId: id, ownConsentId: consentId, reason: 'connection-ended' });
      if (consentId !== null) await retire(tx, { merchantId, connectionId: id, consentId, reason });
    });
  }
  // Nothing is read for them any more, so no bank need wait until a reading has ended.
  await pool.query(
    'update withdrawals set next_attempt_at = $2 where connection_id = any($1) and attempts = 0 and next_attempt_at > $2',
    [connections.map(({ id }) => id), now()],
  );
}

export interface WithdrawalRow {
  id: string;
  institution_id: string;
  problem: string | null;
  next_attempt_at: Date | null;
  withdrawn_at: Date | null;
}

/** The withdrawals of consents that belonged to these connections. */
export async function withdrawalsOf(pool: Pool, connectionIds: readonly string[]): Promise<WithdrawalRow[]> {
  const { rows } = await pool.query<WithdrawalRow>(
    `select w.id, c.institution_id, w.problem, w.next_attempt_at, w.withdrawn_at
     from withdrawals w join connections c on c.id = w.connection_id where w.connection_id = any($1) order by w.created_at, w.id`,
    [connectionIds],
  );
  return rows;
}

/** Whether its bank may still accept it: neither accepted nor given up. */
export function isOpen({ withdrawn_at: withdrawnAt, next_attempt_at: nextAttemptAt }: WithdrawalRow): boolean {
  return withdrawnAt === null && nextAttemptAt !== null;
}

/** What the proof of a deletion says about a consent. */
export function outcomeOf({ institution_id: institutionId, problem, withdrawn_at: at }: WithdrawalRow): DeletedConsent {
  if (at !== null) return { institutionId, outcome: ConsentOutcome.revoked };
  return { institutionId, outcome: ConsentOutcome.unconfirmed, reason: problem ?? 'aggregator-failed' };
}
