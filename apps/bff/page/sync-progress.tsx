import { useEffect, useState } from 'preact/hooks';
import type { CustomerApi } from './api.js';
import { causeOf } from './connection-words.js';
import { readEventStream } from './event-stream.js';
import { count, plural } from './format.js';
import type { SyncRun } from './views.js';

/** The last figures stay for so long, for a run may be over before anybody has seen it. */
const readingMs = 1_500;
const waitsMs = [250, 1_000];

interface Watched {
  api: CustomerApi;
  connectionId: string;
  /** The bank's name. */
  name: string;
  run: SyncRun;
  /** It cannot be followed. */
  onBreak: () => void;
  onEnd: (run: SyncRun) => void;
}

/** A synchronisation as it goes on, told by the server; a stream that stays broken says why. */
export function SyncProgress({ api, connectionId, name, run, onBreak, onEnd }: Watched) {
  const [current, setCurrent] = useState(run);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const leaving = new AbortController();
    const path = `/v1/connections/${connectionId}/sync-runs/${run.id}/progress`;
    follow(path, { token: api.token, signal: leaving.signal }, setCurrent)
      .then(async (last) => {
        await pause(readingMs);
        if (!leaving.signal.aborted) onEnd(last);
      })
      .catch((error: Error) => {
        if (leaving.signal.aborted) return;
        setProblem(error.message);
        onBreak();
      });
    return () => leaving.abort();
  }, [run.id]);
  const { rowsRead, rowsExpected, accountsDone, accounts, status } = current;
  const isKnown = accounts > 0;
  const figures = `${count(rowsRead)} of ${plural(Math.max(rowsRead, rowsExpected), 'transaction')}, ${accountsDone} of ${plural(accounts, 'account')}`;
  const label = isKnown ? figures : 'Asking for the accounts…';
  return (
    <div class="progress">
      <progress
        {...(isKnown ? { value: rowsRead, max: Math.max(rowsExpected, rowsRead, 1) } : {})}
        aria-label={`Synchronising ${name}`}
        aria-valuetext={label}
      />
      <p class="note">{label}</p>
      {/* Only the beginning and the end are spoken: figures that change four times a second are not for the ear. */}
      <p class="unseen" role="status">
        {status === 'running' ? `Synchronising ${name}` : `${name}: ${resultOf(current)}`}
      </p>
      {problem !== undefined && (
        <p role="alert">
          The progress cannot be followed: {problem}. The synchronisation goes on, and its end is told here.
        </p>
      )}
    </div>
  );
}

/** What a run that is over has brought. */
export function resultOf({ status, rowsRead, added, modified, removed, problem }: SyncRun): string {
  if (status !== 'completed') return `not complete, because ${causeOf(problem)}`;
  const changes = [
    added > 0 && `${count(added)} new`,
    modified > 0 && `${count(modified)} changed`,
    removed > 0 && `${count(removed)} removed`,
  ].filter((change) => change !== false);
  return `${plural(rowsRead, 'row')} read, ${changes.length === 0 ? 'nothing new' : changes.join(', ')}`;
}

/** Reads on until the run is over, also after the stream has ended or broken a few times. Answers its last state. */
async function follow(
  path: string,
  options: { token: string; signal: AbortSignal },
  onRun: (run: SyncRun) => void,
): Promise<SyncRun> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      for await (const { data } of readEventStream(path, options)) {
        const run = JSON.parse(data) as SyncRun;
        onRun(run);
        if (run.status !== 'running') return run;
      }
      if (attempt >= waitsMs.length) throw new Error('the stream ends before the run does');
    } catch (error) {
      if (options.signal.aborted || attempt >= waitsMs.length) throw error;
    }
    await pause(waitsMs[attempt] ?? 0);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
