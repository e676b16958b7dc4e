import { describe, expect, it } from 'vitest';
import { counted, jitterOf, nextPossibleAt, nextReadingAt, nextRetryAt, waitAfterRefusal } from './call-budget.js';

const at = new Date('2026-01-01T00:00:00Z');
const hourMs = 3_600_000;
const ago = (hours: number): Date => new Date(at.getTime() - hours * hourMs);
const hoursUntil = (instant: Date): number => (instant.getTime() - at.getTime()) / hourMs;
const budget = (calls: Date[] = [], perDay = 4, blockedUntil: Date | null = null) => ({ calls, perDay, blockedUntil });

describe('the budget of calls', () => {
  it('allows so many calls in any 24 hours', () => {
    expect(nextPossibleAt(budget(), at)).toEqual(at);
    expect(nextPossibleAt(budget([ago(20), ago(10), ago(2)]), at)).toEqual(at);
    expect(hoursUntil(nextPossibleAt(budget([ago(20), ago(10), ago(2), ago(1)]), at))).toBeCloseTo(4, 1);
    expect(hoursUntil(nextPossibleAt(budget([ago(20), ago(10)], 1), at))).toBeCloseTo(14, 1);
    expect(counted([ago(1), ago(30)], at)).toEqual([ago(1)]);
  });

  it('heeds what the institution said itself', () => {
    expect(hoursUntil(nextPossibleAt(budget([], 4, ago(-5)), at))).toBe(5);
    expect(nextPossibleAt(budget([], 4, ago(5)), at)).toEqual(at);
  });

  it('spreads its calls over the day, a little apart for different accounts', () => {
    expect(hoursUntil(nextReadingAt(budget([at]), at, 0))).toBeCloseTo(6, 1);
    expect(hoursUntil(nextReadingAt(budget([at]), at, 1))).toBeCloseTo(6.24, 1);
    expect(hoursUntil(nextReadingAt(budget([at], 1), at, 0))).toBeCloseTo(24, 1);
    const jitters = Array.from({ length: 1_000 }, (_, index) => jitterOf(`account ${index}`));
    const mean = jitters.reduce((sum, each) => sum + each, 0) / jitters.length;
    expect(mean).toBeGreaterThan(0.4);
    expect(mean).toBeLessThan(0.6);
  });

  it('tries again soon after a fault, ever later, and keeps the last call for hours', () => {
    const seconds = (failures: number, calls = 1, asked?: number): number =>
      (nextRetryAt(budget(Array.from({ length: calls }, () => at)), at, failures, asked).getTime() - at.getTime()) /
      1000;
    expect([1, 2, 3, 6, 50].map((failures) => seconds(failures))).toEqual([30, 120, 600, 21_600, 21_600]);
    expect(seconds(1, 1, 3_000)).toBe(3_000);
    expect(seconds(1, 1, 10_000_000)).toBe(86_400);
    expect(seconds(1, 3)).toBeCloseTo(21_615, 0);
    expect(seconds(1, 4)).toBe(86_460);
  });

  it('survives whatever a 429 says of the time to wait', () => {
    expect([undefined, 0, -5, Number.NaN, 60, 1e12].map(waitAfterRefusal)).toEqual([
      3_600, 3_600, 3_600, 3_600, 60, 86_400,
    ]);
  });
});

/** One account in virtual time; the institution counts calls in its own rolling 24 hours. */
function simulate(account: number, days: number, faultShare: number): { refused: number; ages: number[] } {
  const end = at.getTime() + days * 24 * hourMs;
  const bank: number[] = [];
  let calls: Date[] = [];
  let time = at.getTime() + jitterOf(`start ${account}`) * 6 * hourMs;
  let readAt = time;
  let failures = 0;
  let refused = 0;
  const ages: number[] = [];
  while (time < end) {
    const now = new Date(time);
    const next = nextPossibleAt(budget(calls), now);
    if (next > now) {
      time = next.getTime();
      continue;
    }
    calls = [...counted(calls, now), now];
    bank.push(time);
    if (bank.filter((call) => call > time - 24 * hourMs).length > 4) refused += 1;
    if (jitterOf(`fault ${account} ${bank.length}`) < faultShare) {
      failures += 1;
      time = nextRetryAt(budget(calls), now, failures).getTime();
    } else {
      failures = 0;
      // Age rises evenly from nothing to the time until the next reading: its mean is half of that.
      ages.push((time - readAt) / 2);
      readAt = time;
      time = nextReadingAt(budget(calls), now, jitterOf(`${account} ${time}`)).getTime();
    }
  }
  return { refused, ages: ages.slice(1) };
}

describe('thirty days of a thousand accounts', () => {
  const medianHours = (ages: number[]): number => (ages.toSorted((a, b) => a - b)[ages.length >> 1] ?? 0) / hourMs;
  const run = (faultShare: number) => Array.from({ length: 1_000 }, (_, account) => simulate(account, 30, faultShare));

  it('make no call too many, with data about as fresh as four calls a day can make them', () => {
    const accounts = run(0);
    expect(accounts.reduce((sum, { refused }) => sum + refused, 0)).toBe(0);
    const median = medianHours(accounts.flatMap(({ ages }) => ages));
    // Four calls a day, evenly: the best possible median age is 3 hours.
    expect(median).toBeGreaterThan(2.99);
    expect(median).toBeLessThan(3.3);
  });

  it('make no call too many where every fifth fails', () => {
    const accounts = run(0.2);
    expect(accounts.reduce((sum, { refused }) => sum + refused, 0)).toBe(0);
    expect(medianHours(accounts.flatMap(({ ages }) => ages))).toBeLessThan(3.5);
  });
});
