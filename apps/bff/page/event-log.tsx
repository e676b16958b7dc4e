import { useEffect, useState } from 'preact/hooks';
import { readEventStream } from './event-stream.js';
import { type Names, told } from './event-words.js';
import { moment, sentence } from './format.js';
import type { LoggedEvent } from './views.js';

const keptEvents = 100;
const pauseMs = { first: 1_000, longest: 30_000 };

/** The customer's events, newest first; `problem` while the stream is broken. */
export interface EventsSoFar {
  events: LoggedEvent[];
  problem?: string | undefined;
}

/** The customer's event log as the server tells it; a broken stream goes on where it broke. */
export function useEvents(token: string, onEvent: () => void): EventsSoFar {
  const [events, setEvents] = useState<LoggedEvent[]>([]);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const leaving = new AbortController();
    const onRead = (event: LoggedEvent) => {
      setEvents((before) => [event, ...before].slice(0, keptEvents));
      onEvent();
    };
    void keepReading(
      { token, signal: leaving.signal },
      { onRead, onOpen: () => setProblem(undefined), onBreak: setProblem },
    );
    return () => leaving.abort();
  }, [token]);
  return { events, problem };
}

interface Reader {
  onRead: (event: LoggedEvent) => void;
  onOpen: () => void;
  /** The server restarts or the network is gone; it is tried again. */
  onBreak: (reason: string) => void;
}

async function keepReading(
  options: { token: string; signal: AbortSignal },
  { onRead, onOpen, onBreak }: Reader,
): Promise<void> {
  let lastEventId: string | undefined;
  let pause = pauseMs.first;
  while (!options.signal.aborted) {
    try {
      for await (const { id, data } of readEventStream('/v1/events/stream', { ...options, lastEventId, onOpen })) {
        lastEventId = id ?? lastEventId;
        pause = pauseMs.first;
        onRead(JSON.parse(data) as LoggedEvent);
      }
    } catch (error) {
      if (!options.signal.aborted) onBreak(error instanceof Error ? error.message : String(error));
    }
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(pause * 2, pauseMs.longest);
  }
}

/** What happened, as it happens. */
export function EventLog({ events, problem, names }: EventsSoFar & { names: Names }) {
  return (
    <section aria-labelledby="events-heading">
      <h2 id="events-heading">Events</h2>
      {problem !== undefined && <p class="urgent">The event stream is broken and is tried again: {problem}.</p>}
      {events.length === 0 && <p class="note">Nothing has happened yet.</p>}
      {/* Not spoken: it begins with everything that is kept, and what matters is told where it belongs. */}
      <div class="log" role="log" aria-live="off" aria-labelledby="events-heading" tabIndex={0}>
        {events.map((event) => (
          <p key={event.id}>
            {sentence(told(event, names))}
            <span class="note">
              <time dateTime={event.createdAt}>{moment(event.createdAt)}</time> · <code>{event.type}</code>
            </span>
          </p>
        ))}
      </div>
    </section>
  );
}
