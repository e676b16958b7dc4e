import { problems } from '#libs/contract';

export interface GroupCommitLimits {
  /** Rows of one commit, at most. */
  sizeMax: number;
  /** Commits under way at once, at most. */
  commitsMax: number;
  /** Rows that wait at once, at most; beyond it callers are refused. */
  waitingMax: number;
}

interface Waiting<Row> {
  row: Row;
  done: () => void;
  fail: (error: unknown) => void;
}

/**
 * Commits rows of concurrent callers together: whatever comes in while one commit is under way goes into the next. A lone
 * row waits for nobody, and under load the wait is one commit's. A caller goes on when its row is committed, never before.
 */
export class GroupCommit<Row> {
  private waiting: Waiting<Row>[] = [];
  private underWay = 0;

  constructor(
    private readonly commit: (rows: Row[]) => Promise<void>,
    private readonly limits: GroupCommitLimits,
  ) {}

  add(row: Row): Promise<void> {
    if (this.waiting.length >= this.limits.waitingMax) return Promise.reject(problems.unavailable());
    return new Promise((done, fail) => {
      this.waiting.push({ row, done, fail });
      if (this.underWay >= this.limits.commitsMax) return;
      this.underWay += 1;
      // After the sockets that are readable now: their rows come along.
      setImmediate(() => void this.run());
    });
  }

  private async run(): Promise<void> {
    while (this.waiting.length > 0) {
      const group = this.waiting.splice(0, this.limits.sizeMax);
      try {
        await this.commit(group.map(({ row }) => row));
        for (const { done } of group) done();
      } catch (error) {
        await this.settleEach(group, error);
      }
    }
    this.underWay -= 1;
  }

  /** One bad row must not cost the others: each is committed by itself. A database that is away is not asked row by row. */
  private async settleEach(group: Waiting<Row>[], error: unknown): Promise<void> {
    const isOneRowsFault = group.length > 1 && isDataFault(error);
    for (const { row, done, fail } of group) {
      if (isOneRowsFault) await this.commit([row]).then(done, fail);
      else fail(error);
    }
  }
}

/** SQLSTATE classes that speak of the rows (22, 23) or of a conflict with another transaction (40), not of the server. */
function isDataFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(22|23|40)/.test(String(error.code));
}
