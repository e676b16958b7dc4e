import { EventSourceParserStream } from 'eventsource-parser/stream';

/** One message of a `text/event-stream`. */
export interface StreamMessage {
  id?: string | undefined;
  event?: string | undefined;
  data: string;
}

export interface EventStreamOptions {
  token: string;
  signal: AbortSignal;
  lastEventId?: string | undefined;
  /** The server has accepted. */
  onOpen?: () => void;
}

/**
 * Reads server-sent events with a bearer token, which the browser's own EventSource cannot send. Ends when the server ends
 * the stream or the signal is raised; throws where the server refuses.
 */
export async function* readEventStream(
  path: string,
  { token, signal, lastEventId, onOpen }: EventStreamOptions,
): AsyncGenerator<StreamMessage> {
  const headers: Record<string, string> = { accept: 'text/event-stream', authorization: `Bearer ${token}` };
  if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
  const answer = await fetch(path, { headers, signal });
  if (!answer.ok || !answer.body) throw new Error(`the server answered ${answer.status}`);
  onOpen?.();
  const messages = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const reader = messages.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
