import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs, daysLeft, hasStopped, runningClocks, safetyMarginMs, scaUntil, stopOf } from './consent-clocks.js';
import { overridden, ruleOf } from './consent-rules.js';
import { termsOf } from './consent-terms.js';

const authorisedAt = new Date('2026-01-01T00:00:00Z');
const after = (days: number, ms = 0): Date => new Date(authorisedAt.getTime() + days * dayMs + ms);
const iso = (days: number): string => after(days).toISOString();
const stopIn = (consent: Parameters<typeof termsOf>[0], ...countries: string[]) => {
  const { stops_at: at, stop_cause: cause } = termsOf(consent, ruleOf(countries), authorisedAt);
  return { at, cause };
};

describe('the law of a country', () => {
  it('asks for strong authentication every 180 days in the EEA, once in the United Kingdom, and elsewhere as the consent says', () => {
    expect(ruleOf(['DE'])).toEqual({ scaDays: 180, isReconfirmable: false });
    expect(ruleOf(['GB'])).toEqual({ isReconfirmable: true });
    expect(ruleOf(['US'])).toEqual({ isReconfirmable: false });
    expect(ruleOf([])).toEqual({ isReconfirmable: false });
  });

  it('of several countries is the one that asks for more', () => {
    expect(ruleOf(['GB', 'IE'])).toEqual({ scaDays: 180, isReconfirmable: false });
    expect(ruleOf(['FR', 'US'])).toEqual({ scaDays: 180, isReconfirmable: false });
    expect(ruleOf(['GB', 'US'])).toEqual({ isReconfirmable: false });
  });
});

describe('what is known of one institution', () => {
  it('counts before the law of its country, and leaves the rest to it', () => {
    expect(overridden(ruleOf(['DE']), { scaDays: 90, isReconfirmable: null })).toEqual({
      scaDays: 90,
      isReconfirmable: false,
    });
    expect(overridden(ruleOf(['DE']), { scaDays: 0, isReconfirmable: true })).toEqual({ isReconfirmable: true });
    expect(overridden(ruleOf(['GB']), { scaDays: 30, isReconfirmable: null })).toEqual({
      scaDays: 30,
      isReconfirmable: true,
    });
    expect(overridden(ruleOf(['DE']), { scaDays: null, isReconfirmable: null })).toEqual(ruleOf(['DE']));
  });
});

describe('the three clocks', () => {
  it('stop data at the nearest end less the margin', () => {
    const authorizedAt = iso(0);
    expect(stopIn({ authorizedAt, expiresAt: iso(90) }, 'DE')).toEqual({
      at: after(90, -safetyMarginMs),
      cause: 'consent-expiry',
    });
    expect(stopIn({ authorizedAt, expiresAt: iso(300) }, 'DE')).toEqual({
      at: after(180, -safetyMarginMs),
      cause: 'sca-age',
    });
    expect(stopIn({ authorizedAt, expiresAt: iso(300), reconfirmBy: iso(90) }, 'GB')).toEqual({
      at: after(90, -safetyMarginMs),
      cause: 'reconfirmation',
    });
    expect(stopIn({ authorizedAt }, 'GB')).toEqual({ at: null, cause: null });
  });

  it('count a confirmation that the law does not leave to us as an end at the bank', () => {
    const consent = { authorizedAt: iso(0), expiresAt: iso(300), reconfirmBy: iso(90) };
    expect(stopIn(consent, 'DE')).toEqual({ at: after(90, -safetyMarginMs), cause: 'consent-expiry' });
  });

  it('leave a consent of minutes nine tenths of its life', () => {
    const expiresAt = new Date(authorisedAt.getTime() + 600_000).toISOString();
    expect(stopIn({ authorizedAt: iso(0), expiresAt }, 'GB').at).toEqual(new Date(authorisedAt.getTime() + 540_000));
  });

  it('have stopped at the very instant and not a millisecond before', () => {
    const end = after(90);
    expect(hasStopped(end, after(90, -1))).toBe(false);
    expect(hasStopped(end, end)).toBe(true);
    expect(hasStopped(null, end)).toBe(false);
    expect([after(90, -1), after(89), after(89, -1), after(90), after(91)].map((at) => daysLeft(end, at))).toEqual([
      1, 1, 2, 0, 0,
    ]);
  });

  it('never promise data beyond any clock, and name the clock that ends them', () => {
    const instant = fc.option(fc.integer({ min: 1, max: 400 * dayMs }).map((ms) => after(0, ms)));
    fc.assert(
      fc.property(instant, instant, fc.constantFrom('GB', 'DE', 'US'), (expiresAt, reconfirmBy, country) => {
        const rule = ruleOf([country]);
        const dates = { authorisedAt, expiresAt, reconfirmBy, scaUntil: scaUntil(authorisedAt, rule) };
        const clocks = runningClocks(dates, rule);
        const stop = stopOf(clocks, authorisedAt);
        const ends = [expiresAt, reconfirmBy, dates.scaUntil].flatMap((end) => (end === null ? [] : [end.getTime()]));
        expect(stop === undefined).toBe(ends.length === 0);
        if (!stop) return;
        const first = Math.min(...ends);
        expect(stop.at.getTime()).toBeLessThanOrEqual(first);
        expect(stop.at.getTime()).toBeGreaterThanOrEqual(first - safetyMarginMs);
        expect(stop.at.getTime()).toBeGreaterThanOrEqual(authorisedAt.getTime());
        expect(clocks.find(({ cause }) => cause === stop.cause)?.at.getTime()).toBe(first);
      }),
    );
  });
});
