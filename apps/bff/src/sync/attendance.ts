import type { PoolClient } from 'pg';
import type { PsuHeaders } from '#libs/contract';
import type { SecretBox } from '#libs/database';
import { openRun } from './sync-run.js';

/** Seals what is known of a customer who is present, for one run alone: it is personal, and it is gone when the run ends. */
export function sealPsu(box: SecretBox, runId: string, psu: PsuHeaders): string {
  return box.seal(JSON.stringify(psu), `sync-run:${runId}:psu`);
}

/** The customer's headers of a run. */
export function openPsu(box: SecretBox, runId: string, sealed: string): PsuHeaders {
  return JSON.parse(box.open(sealed, `sync-run:${runId}:psu`)) as PsuHeaders;
}

/**
 * Opens the run that follows an authorisation, in the caller's transaction. The customer has just come back from the bank, so what is
 * read now is read in their presence; without `psu` nobody knows where they are, and the run is opened when the list is read.
 */
export async function openAttendedRun(
  tx: PoolClient,
  box: SecretBox,
  { connectionId, psu }: { connectionId: string; psu: PsuHeaders | undefined },
): Promise<void> {
  if (psu) await openRun(tx, connectionId, (runId) => sealPsu(box, runId, psu));
}
