import type { Subject } from './call-ledger.js';
import type { SyncProblem } from './sync-fault.js';

/** An account that may be due, with its schedule and the connection through which it is read. */
export interface DueAccount {
  account_id: string;
  aggregator_account_id: string;
  connection_id: string;
  customer_id: string;
  merchant_id: string;
  institution_id: string;
  status: string;
  consent_id: string | null;
  sealed_consent_token: string | null;
  authorised_at: Date | null;
  due_at: Date | null;
  run_id: string | null;
  failures: number;
  problem: SyncProblem | null;
  read_at: Date | null;
  audited_at: Date | null;
}

/** Whose calls are counted when it is read. */
export function subjectOf({
  account_id: id,
  connection_id: connectionId,
  institution_id: institutionId,
}: DueAccount): Subject {
  return { id, connectionId, institutionId };
}
