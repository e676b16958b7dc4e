import { describe, expect, it } from 'vitest';
import { InboundStatus, isOpen, nextAttemptSeconds } from './inbound-state.js';

describe('an inbound event', () => {
  it('is tried again for more than a day and then given up', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map(nextAttemptSeconds);
    expect(waits.reduce((sum: number, wait) => sum + (wait ?? 0), 0)).toBeGreaterThan(86_400);
    expect(nextAttemptSeconds(9)).toBeUndefined();
  });

  it('is open until it is done or dead', () => {
    expect(Object.values(InboundStatus).filter(isOpen)).toEqual(['received', 'parked']);
  });
});
