import { describe, expect, it } from 'vitest';
import { nextPollAt } from './poll-schedule.js';

const createdAt = new Date('2026-11-21T12:00:00Z');
const waitAfter = (attempts: number, at = createdAt, retryAfterMs = 0) => {
  const next = nextPollAt({ createdAt, attempts }, at, retryAfterMs);
  return next === null ? null : next.getTime() - at.getTime();
};

describe('the schedule of looks at the bank', () => {
  it('begins a second after the payment and slows down', () => {
    expect(waitAfter(0)).toBe(1_000);
    const waits = Array.from({ length: 30 }, (_, attempts) => waitAfter(attempts) ?? 0);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBe(21_600_000);
  });

  it('waits as long as the bank asks, within a day', () => {
    expect(waitAfter(0, createdAt, 45_000)).toBe(45_000);
    expect(waitAfter(0, createdAt, 10 * 86_400_000)).toBe(86_400_000);
  });

  it('ends after four weeks', () => {
    expect(waitAfter(50, new Date('2026-12-19T12:00:00Z'))).toBe(21_600_000);
    expect(waitAfter(50, new Date('2026-12-19T12:00:01Z'))).toBeNull();
  });
});
