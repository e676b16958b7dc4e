import { BankClock, durationMs, fromQueryDate, toWire, wallClock } from './clock.js';
import { Store } from './store.js';

describe('the bank’s clock', () => {
  it.each([
    ['P1D', 86_400_000],
    ['PT5M', 300_000],
    ['-PT1H', -3_600_000],
    ['P1Y2M1WT1.5S', (365 + 60 + 7) * 86_400_000 + 1500],
  ])('reads %s', (text, ms) => expect(durationMs(text)).toBe(ms));

  it.each(['', 'P', 'PT', 'P1DT', '1D', 'P1H', 'soon'])('refuses %j', (text) =>
    expect(durationMs(text)).toBeUndefined(),
  );

  it('keeps its offset over a restart, and goes back', () => {
    const store = new Store(':memory:');
    expect(new BankClock(store).advance('P90D')).toBe(true);
    const clock = new BankClock(store);
    expect(clock.now() - wallClock()).toBeGreaterThan(89 * 86_400_000);
    clock.reset();
    expect(new BankClock(store).offsetMs).toBe(0);
  });

  it('refuses to leave for good', () => {
    const clock = new BankClock(new Store(':memory:'));
    expect(clock.advance('P11Y')).toBe(false);
    expect(clock.set('yesterday')).toBe(false);
  });

  it('reads query dates by the clock on the bank’s wall, whatever zone is sent', () => {
    expect(fromQueryDate('2026-01-31T00:00:00')).toBe(Date.parse('2026-01-31T00:00:00Z'));
    expect(fromQueryDate('2026-07-01T00:00:00')).toBe(Date.parse('2026-06-30T23:00:00Z'));
    expect(fromQueryDate('2026-07-01T00:00:00+09:00')).toBe(Date.parse('2026-06-30T23:00:00Z'));
    expect(fromQueryDate('2026-03-29T02:30:00')).toBe(Date.parse('2026-03-29T01:30:00Z'));
    expect(fromQueryDate('2026-07-01')).toBe(Date.parse('2026-06-30T23:00:00Z'));
    expect(fromQueryDate('31/01/2026')).toBeUndefined();
  });

  it('writes instants with a zone', () =>
    expect(toWire(Date.parse('2026-01-31T10:00:00.123Z'))).toBe('2026-01-31T10:00:00+00:00'));
});
