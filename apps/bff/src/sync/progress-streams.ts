import { PassThrough, type Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems } from '#libs/contract';
import { POOL } from '#libs/database';
import { createLogger } from '#libs/server';
import type { SyncRunView } from './sync-run.dto.js';
import { selectRuns } from './sync-run.queries.js';

interface Stream {
  runId: string;
  body: PassThrough;
  /** The last state that was sent. */
  told: string;
  openedMs: number;
  spokeMs: number;
}

const streamsMax = 500;
const pollMs = 250;
const heartbeatMs = 15_000;
/** A client that still wants to know then asks again. */
const streamMsMax = 15 * 60_000;

/**
 * Progress of runs as server-sent events. All streams of a process share one query a quarter of a second, and none is made
 * while nobody listens.
 */
@Injectable()
export class ProgressStreams implements OnModuleDestroy {
  private readonly log = createLogger('sync');
  private readonly streams = new Set<Stream>();
  private timer: NodeJS.Timeout | undefined;
  private isClosing = false;

  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** How many are listening. */
  get size(): number {
    return this.streams.size;
  }

  /** A stream that tells every change of the run and ends with its end, or with the client. */
  open(run: SyncRunView): Readable {
    if (this.isClosing || this.streams.size >= streamsMax) throw problems.tooManyRequests({ retryAfter: 5 });
    const at = performance.now();
    const stream: Stream = { runId: run.id, body: new PassThrough(), told: '', openedMs: at, spokeMs: at };
    stream.body.once('close', () => this.remove(stream));
    this.streams.add(stream);
    this.tell(stream, run);
    this.lookLater();
    return stream.body;
  }

  /** The program ends: clients come back to another process. */
  onModuleDestroy(): void {
    this.isClosing = true;
    clearTimeout(this.timer);
    for (const { body } of this.streams) body.end('retry: 1000\n\n');
  }

  private remove(stream: Stream): void {
    this.streams.delete(stream);
    if (this.streams.size === 0) {
      clearTimeout(this.timer);
      this.timer = undefined;
    }
  }

  private lookLater(): void {
    if (this.streams.size === 0 || this.isClosing) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.look().finally(() => this.lookLater());
    }, pollMs);
  }

  private async look(): Promise<void> {
    try {
      const runs = await selectRuns(this.pool, [...new Set([...this.streams].map(({ runId }) => runId))]);
      const byId = new Map(runs.map((run) => [run.id, run]));
      for (const stream of this.streams) {
        const run = byId.get(stream.runId);
        if (run) this.tell(stream, run);
        else stream.body.end();
      }
    } catch (error) {
      this.log.warn({ err: error, streams: this.streams.size }, 'progress could not be read');
    }
  }

  private tell(stream: Stream, run: SyncRunView): void {
    const { body } = stream;
    const at = performance.now();
    // A client that does not read gets the next state instead of a queue of old ones.
    if (body.writableEnded || body.writableNeedDrain) return;
    const state = JSON.stringify(run);
    const isOver = run.status !== 'running';
    if (state !== stream.told) body.write(`event: ${isOver ? 'end' : 'progress'}\ndata: ${state}\n\n`);
    else if (at - stream.spokeMs >= heartbeatMs) body.write(': still here\n\n');
    else return;
    stream.told = state;
    stream.spokeMs = at;
    if (isOver || at - stream.openedMs >= streamMsMax) body.end();
  }
}
