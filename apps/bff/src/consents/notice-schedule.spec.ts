import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs } from './consent-clocks.js';
import { noticeDays, type NoticePlan, planNotices, replanNotices, takeNotice } from './notice-schedule.js';

const start = new Date('2026-01-01T00:00:00Z');
const day = (days: number): Date => new Date(start.getTime() + days * dayMs);

/** The notices of one end, when the tick runs at these instants only. */
function tell(stopsAt: Date, ticks: readonly Date[], plan: NoticePlan = planNotices(stopsAt, start)): number[] {
  const told: number[] = [];
  let { nextNoticeAt, noticedDays } = plan;
  for (const at of ticks) {
    if (nextNoticeAt === null || nextNoticeAt > at) continue;
    const taken = takeNotice(stopsAt, noticedDays, at);
    if (taken.days !== undefined) told.push(taken.days);
    ({ nextNoticeAt, noticedDays } = taken.plan);
  }
  return told;
}

describe('the notices before an end', () => {
  it('are told once each, at 30, 14, 7 and 1 days and at the end', () => {
    const hours = Array.from({ length: 100 * 24 }, (_, hour) => new Date(start.getTime() + hour * 3_600_000));
    expect(tell(day(90), hours)).toEqual([30, 14, 7, 1, 0]);
  });

  it('collapse to the one that is true after a standstill', () => {
    expect(tell(day(90), [day(78)])).toEqual([14]);
    expect(tell(day(90), [day(85), day(89)])).toEqual([7, 1]);
    expect(tell(day(90), [day(61), day(200), day(201)])).toEqual([30, 0]);
  });

  it('begin with the first that still lies ahead', () => {
    expect(planNotices(day(10), start).nextNoticeAt).toEqual(day(3));
    expect(planNotices(day(30), start).nextNoticeAt).toEqual(start);
    expect(planNotices(new Date(start.getTime() + 60_000), start).nextNoticeAt).toEqual(
      new Date(start.getTime() + 60_000),
    );
    expect(planNotices(null, start)).toEqual({ nextNoticeAt: null, noticedDays: null });
  });

  it('are not repeated when the same end is read again some minutes off', () => {
    const [was, is] = [day(90), new Date(day(90).getTime() + 1_800_000)];
    const told = takeNotice(was, null, day(60)).plan;
    const plan = replanNotices({ ...told, stopsAt: was }, is, day(61));
    expect(tell(is, [day(61), day(62), day(77), day(84), day(91)], plan)).toEqual([14, 7, 0]);
  });

  it('start anew for a later end, and at once for a sooner one that is near', () => {
    const told = { ...takeNotice(day(90), null, day(60)).plan, stopsAt: day(90) };
    expect(replanNotices(told, day(180), day(65)).nextNoticeAt).toEqual(day(150));
    expect(replanNotices(told, day(75), day(65))).toEqual({ nextNoticeAt: day(65), noticedDays: null });
    expect(tell(day(75), [day(65), day(68)], replanNotices(told, day(75), day(65)))).toEqual([14, 7]);
  });

  it('whenever the tick runs, are few, falling, true when they are told, and end with the end', () => {
    const runs = fc.uniqueArray(fc.integer({ min: 0, max: 200 * 24 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 150 * 24 }), runs, (lifeHours, hours) => {
        const stopsAt = new Date(start.getTime() + lifeHours * 3_600_000);
        const ticks = hours
          .toSorted((one, other) => one - other)
          .map((hour) => new Date(start.getTime() + hour * 3_600_000));
        const told = tell(stopsAt, [...ticks, day(201)]);
        expect(told).toEqual([...new Set(told)].toSorted((one, other) => other - one));
        expect(told.at(-1)).toBe(0);
        expect(told.every((days) => (noticeDays as readonly number[]).includes(days))).toBe(true);
      }),
    );
  });
});
