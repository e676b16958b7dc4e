import { setTimeout } from 'node:timers/promises';
import { InstitutionError } from './institution-error.js';
import { resolveLink, type PageLinks } from './page-links.js';

/** How often, and after which pauses, a bank is asked again that is still gathering what it has. */
export interface Patience {
  turns: number;
  waitMs: number;
}

const usual: Patience = { turns: 3, waitMs: 700 };

/** An empty page that leads to itself: the bank is still gathering what it has (quirk Q9). */
export function isPreparing(
  { rows, next }: { rows: number; next: string | undefined },
  { url, links }: { url: URL; links?: PageLinks | undefined },
): boolean {
  return rows === 0 && next !== undefined && resolveLink(next, url, links)?.href === url.href;
}

/** Asks again while the bank prepares, a few times and no longer: then the caller hears when to come back. */
export async function readPatiently<T>(
  read: () => Promise<T>,
  how: { isPreparing: (answer: T) => boolean; patience?: Patience | undefined; signal: AbortSignal },
): Promise<T> {
  const { turns, waitMs } = how.patience ?? usual;
  for (let turn = 1; ; turn += 1) {
    const answer = await read();
    if (!how.isPreparing(answer)) return answer;
    if (turn >= turns) {
      throw new InstitutionError('unavailable', 'The institution is still preparing the data', {
        retryAfterMs: waitMs * turns,
      });
    }
    await pause(waitMs * turn, how.signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (fault) {
    signal.throwIfAborted();
    throw fault;
  }
}
