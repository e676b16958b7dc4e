import type { PsuHeaders } from '#libs/contract';
import type { SecretBox } from '#libs/database';

/** Seals what is known of a customer who is present, for one run alone: it is personal, and it is gone when the run ends. */
export function sealPsu(box: SecretBox, runId: string, psu: PsuHeaders): string {
  return box.seal(JSON.stringify(psu), `sync-run:${runId}:psu`);
}

/** The customer's headers of a run. */
export function openPsu(box: SecretBox, runId: string, sealed: string): PsuHeaders {
  return JSON.parse(box.open(sealed, `sync-run:${runId}:psu`)) as PsuHeaders;
}
