import { Injectable } from '@nestjs/common';
import type { OffsetPage } from '#libs/contract';
import type { ConsentRow } from '../consents/consent.queries.js';
import { SnapshotsService, type Rows } from './snapshots.service.js';
import { clipWindow, rowsOfPage, type Window } from './row-window.js';

/** A list that is paged by offset. */
export interface PagedList {
  page: OffsetPage;
  /** What tells this list from the others of the consent, its period apart. */
  parts: readonly string[];
  /** The whole list, newest first, each row its JSON text. */
  walk: (window: Window) => Promise<string[]>;
}

/**
 * Lists by offset. Offset 0 always walks the bank's pages to the end of the window, so asking again is the way to
 * refresh; what it finds is kept for ten minutes, and later offsets are served from that without touching the bank.
 */
@Injectable()
export class OffsetPages {
  /** Walks under way in this process: calls that ask the same thing at once share one. */
  private readonly walks = new Map<string, Promise<string[]>>();

  constructor(private readonly snapshots: SnapshotsService) {}

  /** One page of the part of the list that the consent covers. */
  async page(consent: ConsentRow, { page, parts, walk }: PagedList): Promise<Rows> {
    const window = clipWindow(page, consent);
    if (window === undefined) return { rows: [], total: 0 };
    const period = [window.from?.toISOString(), window.before?.toISOString()];
    const key = this.snapshots.keyOf(consent.id, [...parts, ...period]);
    if (page.offset > 0) {
      const kept = await this.snapshots.read(key, (total) => rowsOfPage(page, total));
      if (kept !== undefined) return pageOrder(kept, page);
    }
    const rows = await this.once(`${key.consentId}:${key.queryKey}`, async () => {
      // What was kept before goes while the bank is asked. An answer that fits the asked page has no later offsets, so
      // that is then the whole of it: one statement, during a wait.
      const [all] = await Promise.all([walk(window), this.snapshots.drop(key)]);
      if (all.length > page.limit) await this.snapshots.keep(key, consent.applicationId, all);
      return all;
    });
    const { from, to } = rowsOfPage(page, rows.length);
    return pageOrder({ rows: rows.slice(from, to), total: rows.length }, page);
  }

  private async once(key: string, walk: () => Promise<string[]>): Promise<string[]> {
    const underway = this.walks.get(key);
    if (underway !== undefined) return underway;
    const started = walk().finally(() => this.walks.delete(key));
    this.walks.set(key, started);
    return started;
  }
}

/** The snapshot is newest first; a page that asks for the oldest first is cut from its end and turned round. */
function pageOrder({ rows, total }: Rows, page: OffsetPage): Rows {
  return { rows: page.sort === 'date' ? rows.toReversed() : rows, total };
}
