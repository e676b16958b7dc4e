import { describe, expect, it } from 'vitest';
import { nextAttemptAt } from './deletion-schedule.js';

const began = Date.parse('2026-11-21T00:00:00.000Z');
const deadline = new Date(began + 72 * 3_600_000);
const waitOf = (attempts: number, at: Date) => (nextAttemptAt(attempts, at, deadline).getTime() - at.getTime()) / 1_000;

describe('the schedule of a deletion', () => {
  it('waits longer each time, an hour at most', () => {
    const at = new Date(began);
    expect([1, 2, 3, 4, 5, 60].map((attempts) => waitOf(attempts, at))).toEqual([60, 120, 300, 900, 3_600, 3_600]);
  });

  it('comes to the deadline exactly, and goes on behind it', () => {
    expect(waitOf(70, new Date(deadline.getTime() - 5_000))).toBe(5);
    expect(waitOf(70, deadline)).toBe(3_600);
  });
});
