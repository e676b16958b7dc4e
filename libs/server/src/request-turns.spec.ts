import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RequestTurns } from './request-turns.js';

describe('requests of one turn of the event loop', () => {
  it('are begun at once while they are few', () => {
    const turns = new RequestTurns();
    const begun: number[] = [];
    for (const each of [1, 2, 3, 4]) turns.begin(() => begun.push(each));
    expect(begun).toEqual([1, 2, 3, 4]);
  });

  it('are begun a few a turn when they are many, in the order in which they came', async () => {
    const turns = new RequestTurns();
    const begun: number[] = [];
    for (let each = 1; each <= 10; each += 1) turns.begin(() => begun.push(each));
    expect(begun).toHaveLength(4);
    await turn();
    expect(begun).toHaveLength(8);
    turns.begin(() => begun.push(11));
    for (let more = 0; more < 3; more += 1) await turn();
    expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('are begun at once again when the burst is over', async () => {
    const turns = new RequestTurns();
    let begun = 0;
    for (let each = 0; each < 9; each += 1) turns.begin(() => (begun += 1));
    for (let more = 0; more < 4; more += 1) await turn();
    turns.begin(() => (begun += 1));
    expect(begun).toBe(10);
  });
});
