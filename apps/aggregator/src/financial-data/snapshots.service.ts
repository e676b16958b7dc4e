import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { hashToken, POOL, SecretBox, transaction } from '#libs/database';
import { now } from '#libs/server';
import {
  dropSnapshot,
  findSnapshot,
  readChunks,
  replaceSnapshot,
  type SealedChunk,
  type SnapshotKey,
} from './snapshot.queries.js';

/** How long later offsets are answered without the bank. */
const SNAPSHOT_MS = 10 * 60_000;
const CHUNK_ROWS = 500;

/** Some rows of an answer as JSON texts, and how many rows the whole answer has. */
export interface Rows {
  rows: string[];
  total: number;
}

/** Keeps whole answers for ten minutes, sealed and bound to consent and query, so that paging costs the bank one walk. */
@Injectable()
export class SnapshotsService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly box: SecretBox,
  ) {}

  /** The key of a query under a consent. The account's id is not readable in it. */
  keyOf(consentId: string, parts: readonly (string | undefined)[]): SnapshotKey {
    return { consentId, queryKey: hashToken(JSON.stringify(parts), `snapshot:${consentId}`) };
  }

  /** Forgets the answer that was kept before. */
  drop(key: SnapshotKey): Promise<void> {
    return dropSnapshot(this.pool, key);
  }

  /** Keeps an answer in place of the one before it. */
  async keep(key: SnapshotKey, applicationId: string, rows: readonly string[]): Promise<void> {
    const createdAt = now();
    const expiresAt = new Date(createdAt.getTime() + SNAPSHOT_MS);
    const chunks: SealedChunk[] = [];
    for (let firstRow = 0; firstRow < rows.length; firstRow += CHUNK_ROWS) {
      const run = rows.slice(firstRow, firstRow + CHUNK_ROWS);
      // JSON texts hold no line break of their own, so a line is a row.
      chunks.push({ firstRow, rowCount: run.length, sealed: this.box.seal(run.join('\n'), contextOf(key, firstRow)) });
    }
    await transaction(this.pool, (tx) =>
      replaceSnapshot(tx, { ...key, applicationId, total: rows.length, createdAt, expiresAt }, chunks),
    );
  }

  /** The rows `pick` chooses out of a kept answer of `total` rows; undefined when no answer is kept. */
  async read(key: SnapshotKey, pick: (total: number) => { from: number; to: number }): Promise<Rows | undefined> {
    const found = await findSnapshot(this.pool, key, now());
    if (found === undefined) return undefined;
    const { from, to } = pick(found.total);
    if (from >= to) return { rows: [], total: found.total };
    const chunks = await readChunks(this.pool, found.id, from, to);
    const rows = chunks.flatMap(({ firstRow, sealed }) => {
      const run = this.box.open(sealed, contextOf(key, firstRow)).split('\n');
      return run.slice(Math.max(0, from - firstRow), Math.max(0, to - firstRow));
    });
    // Replaced by a fresh walk between the two reads: the caller walks again.
    return rows.length === to - from ? { rows, total: found.total } : undefined;
  }
}

function contextOf({ consentId, queryKey }: SnapshotKey, firstRow: number): string {
  return `snapshot:${consentId}:${queryKey}:${firstRow}`;
}
