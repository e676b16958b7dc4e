import { useEffect, useState } from 'preact/hooks';
import { readEventStream } from './event-stream.js';
import { count } from './format.js';
import type { SyncRun } from './views.js';

/** The last figures stay for so long, for a run may be over before anybody has seen it. */
const readingMs = 1_500;

interface Watched {
  token: string;
  connectionId: string;
  /** The bank's name. */
  name: string;
  run: SyncRun;
  onEnd: () => void;
}

/** A synchronisation as it goes on, told by the server. */
export function SyncProgress({ token, connectionId, name, run, onEnd }: Watched) {
  const [current, setCurrent] = useState(run);
  useEffect(() => {
    const leaving = new AbortController();
    void follow(
      `/v1/connections/${connectionId}/sync-runs/${run.id}/progress`,
      { token, signal: leaving.signal },
      setCurrent,
    )
      .catch(() => undefined)
      .then(() => pause(readingMs))
      .finally(() => {
        if (!leaving.signal.aborted) onEnd();
      });
    return () => leaving.abort();
  }, [run.id]);
  const { rowsRead, rowsExpected, accountsDone, accounts } = current;
  const label = `${name}: ${count(rowsRead)} of ${count(Math.max(rowsRead, rowsExpected))} transactions, ${accountsDone} of ${accounts} accounts`;
  return (
    <div class="progress">
      <progress value={rowsRead} max={Math.max(rowsExpected, rowsRead, 1)} aria-label={`Synchronising ${name}`} />
      <p class="note" role="status">
        {label}
      </p>
    </div>
  );
}

async function follow(
  path: string,
  options: { token: string; signal: AbortSignal },
  onRun: (run: SyncRun) => void,
): Promise<void> {
  for await (const { data } of readEventStream(path, options)) {
    const run = JSON.parse(data) as SyncRun;
    onRun(run);
    if (run.status !== 'running') return;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
