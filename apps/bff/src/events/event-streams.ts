import { Readable } from 'node:stream';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { problems } from '#libs/contract';
import { EventTail } from './event-tail.js';
import type { EventPage } from './event.dto.js';
import type { EventSelection } from './events.queries.js';
import { EventsService } from './events.service.js';

export interface StreamOptions {
  heartbeatMs: number;
  /** A stream ends after this time, so none outlives the credentials it was opened with by long; its reader comes back. */
  lifeMs: number;
  /** Open at once in this process, and of one merchant or customer. */
  streamsMax: number;
  perCallerMax: number;
}

export const streamOptions: StreamOptions = {
  heartbeatMs: 15_000,
  lifeMs: 600_000,
  streamsMax: 1_000,
  perCallerMax: 20,
};

const pageSize = 100;

/** Streams of server-sent events (HTML, section 9.2): what is kept after a place in the log, and then whatever comes. */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  options = streamOptions;
  private readonly openBy = new Map<string, number>();
  private readonly open = new Set<AbortController>();

  constructor(
    private readonly events: EventsService,
    private readonly tail: EventTail,
  ) {}

  /**
   * The first page is read before anything is answered, so that a refusal is still an ordinary one. `leaving` ends the
   * stream: its reader has gone, or its time is up.
   */
  async start(selection: EventSelection, leaving: AbortController): Promise<Readable> {
    const caller = selection.customerId ?? selection.merchantId;
    const isFull =
      this.open.size >= this.options.streamsMax || (this.openBy.get(caller) ?? 0) >= this.options.perCallerMax;
    if (isFull) throw problems.tooManyRequests({ retryAfter: 30 });
    const over = setTimeout(() => leaving.abort(), this.options.lifeMs).unref();
    leaving.signal.addEventListener('abort', () => {
      clearTimeout(over);
      this.open.delete(leaving);
      this.count(caller, -1);
    });
    this.open.add(leaving);
    this.count(caller, 1);
    try {
      const first = await this.events.list(selection, pageSize);
      const stream = Readable.from(this.lines(selection, first, leaving.signal), { objectMode: false });
      return stream.once('close', () => leaving.abort());
    } catch (error) {
      leaving.abort();
      throw error;
    }
  }

  /** A server that closes waits for its answers to end. */
  onModuleDestroy(): void {
    for (const leaving of this.open) leaving.abort();
  }

  /** A slow reader is waited for: the next page is read when this one has been taken. */
  private async *lines(selection: EventSelection, first: EventPage, signal: AbortSignal): AsyncGenerator<string> {
    yield 'retry: 2000\n\n';
    let page = first;
    for (;;) {
      if (page.data.length > 0) {
        yield page.data.map((event) => `id: ${event.sequence}\ndata: ${JSON.stringify(event)}\n\n`).join('');
      }
      if (signal.aborted) return;
      const after = page.nextAfter;
      if (!page.hasMore) {
        // The comment shows that we are there; the id moves the reader on past what it did not ask for.
        yield `: waiting\nid: ${after}\n\n`;
        await this.tail.wait({ ...selection, after }, { ms: this.options.heartbeatMs, signal });
        if (signal.aborted) return;
      }
      page = await this.events.list({ ...selection, after }, pageSize);
    }
  }

  private count(caller: string, by: 1 | -1): void {
    const left = (this.openBy.get(caller) ?? 0) + by;
    if (left > 0) this.openBy.set(caller, left);
    else this.openBy.delete(caller);
  }
}
