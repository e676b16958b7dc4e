import { useEffect, useState } from 'preact/hooks';
import type { ApiCall, CallLog } from './call-log.js';

/** A path as it is read: a long value, such as a cursor, by its beginning. */
function readable(path: string): string {
  return decodeURIComponent(path).replaceAll(/=([^&]{24})[^&]+/g, '=$1…');
}

/** The calls of the public API that this page has made: nothing else is behind it. */
export function Calls({ calls: log }: { calls: CallLog }) {
  const [calls, setCalls] = useState<readonly ApiCall[]>(log.calls);
  useEffect(() => log.subscribe(() => setCalls(log.calls)), [log]);
  return (
    <section aria-labelledby="calls-heading">
      <h2 id="calls-heading">API calls</h2>
      <p class="note">
        Every call that this page makes, newest first. All of them are described in the{' '}
        <a href="/docs">API reference</a>.
      </p>
      <ol class="log calls" role="list" aria-labelledby="calls-heading" tabIndex={0}>
        {calls.map(({ id, method, path, status, ms }) => (
          <li key={id}>
            <code>
              {method} {readable(path)}
            </code>
            <span class={`note ${status === undefined || status >= 400 ? 'bad' : ''}`}>
              {status ?? 'no answer'} · {Math.round(ms)} ms
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
