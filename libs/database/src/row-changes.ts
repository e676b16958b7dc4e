import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import pg from 'pg';
import { RowCache } from './row-cache.js';

/** Where the triggers of the database say which row has changed: `consents:<id>`. */
export const changesChannel = 'tributary_row_changes';

const retryMsMin = 100;
const retryMsMax = 5_000;

/**
 * Hears of every change to the rows that are kept in memory, whichever process made it, and makes the caches that keep
 * them. It has a connection of its own to listen on; the pool's connections listen as well, so that what this process
 * changes is forgotten before the change is reported to it (Postgres notifies before it says that a command is complete).
 * While its own connection is lost nothing is kept.
 */
export class RowChanges implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly caches: Pick<RowCache<object>, 'forget' | 'clear'>[] = [];
  private client: pg.Client | undefined;
  private failures = 0;
  private isEnding = false;
  private heard = false;
  private changes = 0;

  constructor(private readonly settings: pg.ClientConfig) {}

  /** Whether changes arrive, so that rows may be kept. */
  get isHeard(): boolean {
    return this.heard;
  }

  /** How many changes were heard of so far. A row that was being read meanwhile may be older than one of them. */
  get count(): number {
    return this.changes;
  }

  /** Keeps rows in memory until one of their tags is heard of. `tagsOf` names the rows that a kept row was made of. */
  cache<Row extends object>(tagsOf: (row: Row) => string[]): RowCache<Row> {
    const cache = new RowCache<Row>(this, tagsOf);
    this.caches.push(cache);
    return cache;
  }

  /** Forgets what was made of this row. */
  hear(tag: string): void {
    this.changes += 1;
    for (const cache of this.caches) cache.forget(tag);
  }

  /** Does not wait: until the connection listens, every look-up goes to the database. */
  onApplicationBootstrap(): void {
    if (this.caches.length > 0) void this.listen();
  }

  async onModuleDestroy(): Promise<void> {
    this.isEnding = true;
    this.turn(false);
    await this.client?.end();
  }

  private async listen(): Promise<void> {
    if (this.isEnding) return;
    const client = new pg.Client(this.settings);
    this.client = client;
    // What went wrong with a connection is followed by its end, which is where it is dealt with.
    client.on('error', () => {});
    client.on('notification', ({ payload = '' }) => this.hear(payload));
    const ended = new Promise<void>((end) => client.once('end', end));
    try {
      await client.connect();
      await client.query(`LISTEN ${changesChannel}`);
      this.failures = 0;
      if (!this.isEnding) this.turn(true);
      await ended;
    } catch {
      await client.end().catch(() => {});
    }
    this.turn(false);
    this.failures += 1;
    const retryMs = Math.min(retryMsMax, retryMsMin * 2 ** (this.failures - 1));
    if (!this.isEnding) setTimeout(() => void this.listen(), retryMs).unref();
  }

  /** What was read before the turn may not be kept after it: nobody told of its changes. */
  private turn(heard: boolean): void {
    this.heard = heard;
    this.changes += 1;
    for (const cache of this.caches) cache.clear();
  }
}
