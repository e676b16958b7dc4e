import { useEffect, useState } from 'preact/hooks';
import { readEventStream } from './event-stream.js';
import { timeOfDay } from './format.js';
import type { LoggedEvent } from './views.js';

const keptEvents = 100;
const pauseMs = { first: 1_000, longest: 30_000 };

/** The customer's event log, newest first, as the server tells it; a broken stream goes on where it broke. */
export function useEvents(token: string, onEvent: () => void): LoggedEvent[] {
  const [events, setEvents] = useState<LoggedEvent[]>([]);
  useEffect(() => {
    const leaving = new AbortController();
    void keepReading(token, leaving.signal, (event) => {
      setEvents((before) => [event, ...before].slice(0, keptEvents));
      onEvent();
    });
    return () => leaving.abort();
  }, [token]);
  return events;
}

async function keepReading(token: string, signal: AbortSignal, onEvent: (event: LoggedEvent) => void): Promise<void> {
  let lastEventId: string | undefined;
  let pause = pauseMs.first;
  while (!signal.aborted) {
    try {
      for await (const { id, data } of readEventStream('/v1/events/stream', { token, signal, lastEventId })) {
        lastEventId = id ?? lastEventId;
        pause = pauseMs.first;
        onEvent(JSON.parse(data) as LoggedEvent);
      }
    } catch {
      // The server restarts or the network is gone: tried again below.
    }
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(pause * 2, pauseMs.longest);
  }
}

/** What happened, as it happens. */
export function EventLog({ events }: { events: readonly LoggedEvent[] }) {
  return (
    <section aria-labelledby="events-heading">
      <h2 id="events-heading">Events</h2>
      {events.length === 0 && <p class="note">Nothing has happened yet.</p>}
      <div class="events" role="log" aria-labelledby="events-heading" tabIndex={0}>
        {events.map(({ id, type, data, createdAt }) => (
          <p key={id}>
            <time dateTime={createdAt}>{timeOfDay(createdAt)}</time> <strong>{type}</strong>{' '}
            <span class="note">{told(data)}</span>
          </p>
        ))}
      </div>
    </section>
  );
}

/** The facts of an event without its ids. */
function told(data: Record<string, unknown>): string {
  return Object.entries(data)
    .filter(([name, value]) => !/id$/i.test(name) && value !== null)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
}
