import { describe, expect, it } from 'vitest';
import { PaymentIsoStatusCodeEnum, PaymentStatus } from '#libs/contract';
import { isReported, isTerminal, mayMove, outcomeOf, statusOfIso } from './payment-state.js';

const all = Object.values(PaymentStatus);

describe('the states of a payment', () => {
  it('are named by every ISO code of the interface', () => {
    for (const code of Object.values(PaymentIsoStatusCodeEnum)) expect(all).toContain(statusOfIso(code));
    expect(statusOfIso('ACSP')).toBe('COMPLETED');
    expect(statusOfIso('RJCT')).toBe('FAILED');
    expect(statusOfIso('PATC')).toBe('PENDING');
    expect(statusOfIso('toString')).toBeUndefined();
  });

  it('never go back to pending once the bank has taken the payment', () => {
    expect(mayMove('PENDING', 'COMPLETED')).toBe(true);
    expect(mayMove('COMPLETED', 'PENDING')).toBe(false);
    expect(mayMove('COMPLETED', 'FAILED')).toBe(true);
  });

  it('have no way out of a failure', () => {
    for (const end of all.filter((status) => isTerminal(status))) {
      for (const to of all) expect(mayMove(end, to)).toBe(false);
    }
    expect(all.filter((status) => isTerminal(status)).toSorted()).toEqual(['DECLINED', 'EXPIRED', 'FAILED']);
  });

  it('are a success only when the bank has nothing more to say', () => {
    expect(outcomeOf('COMPLETED', false)).toBe('open');
    expect(outcomeOf('COMPLETED', true)).toBe('succeeded');
    expect(outcomeOf('PENDING', true)).toBe('open');
    expect(outcomeOf('FAILED', false)).toBe('failed');
  });

  it('are reported when completed or ended, not while open', () => {
    expect(isReported('PENDING')).toBe(false);
    expect(isReported('COMPLETED')).toBe(true);
    expect(isReported('FAILED')).toBe(true);
  });
});
