import { afterEach, expect, it } from 'vitest';
import { resetClock, setClock } from '#libs/server';
import { tickJob } from './due-jobs.js';

afterEach(resetClock);

const idAt = (time: string): string => {
  setClock(() => new Date(`2026-11-21T10:00:${time}Z`));
  return tickJob().opts.jobId;
};

it('is one tick for all who ask at a time, and another soon after, lest one that died stand in its way', () => {
  expect(idAt('02.000')).toBe(idAt('09.999'));
  expect(idAt('12.000')).not.toBe(idAt('02.000'));
});
