import { now } from '#libs/server';

/** Even a row whose change is never heard of, because a dead connection has not been noticed yet, is gone after this. */
const keptMs = 10_000;
const rowsMax = 10_000;

/** Whether changes are heard of, and how many were so far. */
export interface Changes {
  readonly isHeard: boolean;
  readonly count: number;
}

interface Kept<Row> {
  row: Readonly<Row>;
  tags: string[];
  until: number;
}

/** Rows in memory, each until a row that it was made of changes; see `RowChanges`, which makes these. */
export class RowCache<Row extends object> {
  private readonly kept = new Map<string, Kept<Row>>();
  private readonly keysOf = new Map<string, Set<string>>();

  constructor(
    private readonly changes: Changes,
    private readonly tagsOf: (row: Row) => string[],
  ) {}

  /** The kept row, or what `load` reads. A row that does not exist is not kept: it may be made at any moment. */
  async get(key: string, load: () => Promise<Row | undefined>): Promise<Readonly<Row> | undefined> {
    const known = this.kept.get(key);
    if (known && known.until > now().getTime()) return known.row;
    return this.read(key, load);
  }

  /** What `load` reads, whatever is kept. */
  async read(key: string, load: () => Promise<Row | undefined>): Promise<Readonly<Row> | undefined> {
    const before = this.changes.count;
    const row = await load();
    // Any change heard of meanwhile may be one of this row.
    if (row && this.changes.isHeard && before === this.changes.count) this.keep(key, Object.freeze(row));
    return row;
  }

  forget(tag: string): void {
    for (const key of this.keysOf.get(tag) ?? []) this.drop(key);
  }

  clear(): void {
    this.kept.clear();
    this.keysOf.clear();
  }

  private keep(key: string, row: Readonly<Row>): void {
    this.drop(key);
    const [oldest] = this.kept.size < rowsMax ? [] : this.kept.keys();
    if (oldest !== undefined) this.drop(oldest);
    const tags = this.tagsOf(row);
    this.kept.set(key, { row, tags, until: now().getTime() + keptMs });
    for (const tag of tags) this.keysOf.set(tag, (this.keysOf.get(tag) ?? new Set()).add(key));
  }

  private drop(key: string): void {
    for (const tag of this.kept.get(key)?.tags ?? []) {
      const keys = this.keysOf.get(tag);
      keys?.delete(key);
      if (keys?.size === 0) this.keysOf.delete(tag);
    }
    this.kept.delete(key);
  }
}
