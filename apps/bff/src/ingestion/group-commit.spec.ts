import { describe, expect, it } from 'vitest';
import { problems } from '#libs/contract';
import { GroupCommit } from './group-commit.js';

class DatabaseError extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

/** A database that commits when it is told to. */
class Ledger {
  readonly commits: number[][] = [];
  readonly committed: number[] = [];
  private gate = Promise.withResolvers<void>();
  constructor(private readonly refuse: (rows: number[]) => Error | undefined = () => undefined) {
    this.gate.resolve();
  }

  readonly commit = async (rows: number[]): Promise<void> => {
    this.commits.push(rows);
    await this.gate.promise;
    const refusal = this.refuse(rows);
    if (refusal) throw refusal;
    this.committed.push(...rows);
  };

  hold(): () => void {
    this.gate = Promise.withResolvers<void>();
    return () => this.gate.resolve();
  }
}

const limits = { sizeMax: 50, commitsMax: 1, waitingMax: 100 };
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('a group commit', () => {
  it('commits what came in during one commit together with the next', async () => {
    const ledger = new Ledger();
    const group = new GroupCommit(ledger.commit, limits);
    const release = ledger.hold();
    const first = group.add(0);
    await new Promise((done) => setImmediate(done));
    const others = numbers(80).map((number) => group.add(number + 1));
    release();
    await Promise.all([first, ...others]);
    expect(ledger.commits.map((rows) => rows.length)).toEqual([1, 50, 30]);
    expect(ledger.committed).toEqual(numbers(81));
  });

  it('lets nobody go on before its row is committed', async () => {
    const ledger = new Ledger();
    const group = new GroupCommit(ledger.commit, limits);
    const release = ledger.hold();
    let isDone = false;
    const added = group.add(7).then(() => (isDone = true));
    await new Promise((done) => setImmediate(done));
    expect({ commits: ledger.commits, isDone }).toEqual({ commits: [[7]], isDone: false });
    release();
    await added;
    expect(ledger.committed).toEqual([7]);
  });

  it('refuses the one row that cannot be stored, and commits the others by themselves', async () => {
    const ledger = new Ledger((rows) => (rows.includes(3) ? new DatabaseError('22021') : undefined));
    const group = new GroupCommit(ledger.commit, limits);
    const results = await Promise.allSettled(numbers(6).map((number) => group.add(number)));
    expect(results.map(({ status }) => status)).toEqual(numbers(6).map((n) => (n === 3 ? 'rejected' : 'fulfilled')));
    expect(ledger.committed).toEqual([0, 1, 2, 4, 5]);
    expect(ledger.commits).toHaveLength(7);
  });

  it('does not ask a database row by row that is away', async () => {
    const ledger = new Ledger(() => new DatabaseError('57P03'));
    const group = new GroupCommit(ledger.commit, limits);
    const results = await Promise.allSettled(numbers(6).map((number) => group.add(number)));
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(ledger.commits).toHaveLength(1);
    await expect(group.add(9)).rejects.toThrow('57P03');
  });

  it('refuses with 503 what it cannot keep waiting', async () => {
    const ledger = new Ledger();
    const group = new GroupCommit(ledger.commit, { ...limits, waitingMax: 3 });
    const results = await Promise.allSettled(numbers(5).map((number) => group.add(number)));
    expect(results.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(2);
    expect(results.at(-1)).toMatchObject({ reason: { status: problems.unavailable().status } });
  });
});
