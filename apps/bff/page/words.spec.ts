import { describe, expect, it } from 'vitest';
import { isUrgent, latenessOf, outlookOf, statusOf } from './connection-words.js';
import { told } from './event-words.js';
import { toldOf } from './returned.js';
import { datesOf, doubtOf } from './transaction-words.js';
import type { Connection, Forecast, LoggedEvent, Payment, Transaction } from './views.js';

const forecast = (more: Partial<Forecast>): Forecast => ({
  outlook: 'ahead',
  owner: 'customer',
  action: 'renew',
  data: [],
  clocks: [],
  ...more,
});

describe('a forecast in words', () => {
  it('says when data stop, why, and whether it is time to act', () => {
    const soon = forecast({ at: '2027-02-19T10:00:00.000Z', daysLeft: 12, cause: 'sca-age' });
    expect(outlookOf(soon)).toBe(
      'Data stop on 19 Feb 2027 (in 12 days), because the bank wants to see its customer again.',
    );
    expect(isUrgent(soon)).toBe(true);
    expect(isUrgent(forecast({ daysLeft: 90 }))).toBe(false);
    expect(isUrgent(forecast({ outlook: 'steady', action: 'nothing' }))).toBe(false);
  });

  it('says that data have stopped, also for a cause that is new', () => {
    const stopped = forecast({ outlook: 'stopped', cause: 'some-new-cause' });
    expect(outlookOf(stopped)).toBe('Data have stopped, because some new cause.');
    expect(isUrgent(stopped)).toBe(true);
  });

  it('says who mends what is late, and when', () => {
    const late = forecast({ interruption: { cause: 'institution-failed', owner: 'institution' } });
    expect(latenessOf(late)).toBe('Data are late, because the bank failed. You need not do anything.');
    expect(latenessOf(forecast({}))).toBeUndefined();
    expect(statusOf({ status: 'active', health: 'degraded' })).toBe('late');
    expect(statusOf({ status: 'needs-user', health: 'degraded' })).toBe('needs you');
  });
});

describe('an event in words', () => {
  const names = { connection: () => 'Meridian Bank', account: () => undefined };
  const event = (type: string, data: Record<string, unknown>): LoggedEvent => {
    return { id: 'e', sequence: 1, type, data, createdAt: '2026-11-21T10:00:00.000Z' };
  };

  it('names the bank and the reason, and no member of the data as it is', () => {
    const ended = { connectionId: 'c', status: 'needs-user', reason: 'revoked-at-institution' };
    expect(told(event('connection.updated', ended), names)).toBe(
      'Meridian Bank needs you, because the consent was withdrawn at the bank',
    );
    const synced = { connectionId: 'c', problem: 'timed-out', nextSyncAt: '2026-11-21T17:00:00.000Z' };
    expect(told(event('connection.synced', synced), names)).toBe(
      'Meridian Bank was not read to the end, because the bank did not answer in time',
    );
    const expiring = { connectionId: 'c', daysLeft: 1, cause: 'reconfirmation', at: '2026-11-22T10:00:00.000Z' };
    expect(told(event('connection.expiring', expiring), names)).toBe(
      'Data of Meridian Bank stop in 1 day, on 22 Nov 2026, because you have to confirm that access may go on',
    );
    const mismatch = { accountId: 'a', amount: '-6.5', currency: 'GBP', candidates: '' };
    expect(told(event('account.balance-mismatch', mismatch), names)).toBe(
      'An account: the balance moved −£6.50 beyond the transactions',
    );
    expect(told(event('account.balance-agreed', { accountId: 'a' }), names)).toBe(
      'An account: the balance agrees with the transactions again',
    );
    expect(
      ['linked', 'renumbered', 'unresolved', 'joined'].map((what) => told(event(`account.${what}`, {}), names)),
    ).toEqual([
      'An account is known again',
      'An account has a new number',
      'An account is new, and may be one that was there before',
      'An account and another account are one',
    ]);
    expect(told(event('payment.completed', { paymentId: 'p', status: 'COMPLETED' }), names)).toBe(
      'The payment is made',
    );
  });

  it('is told by its type when it is a new one', () => {
    expect(told(event('card.lost_or-found', {}), names)).toBe('card lost or found');
  });
});

describe('the dates of a transaction', () => {
  const row = (more: Partial<Transaction>): Transaction => ({ id: 't', accountId: 'a', ...more });

  it('are the booking’s', () => {
    expect(datesOf(row({ status: 'BOOKED', date: '2026-03-01T00:00:00.000Z' }))).toBe('1 Mar 2026');
  });

  it('tell of a pending one when it was made and when its booking is expected', () => {
    const booking = '2999-03-03T00:00:00.000Z';
    const pending = { status: 'PENDING', date: booking, bookingDateTime: booking } as const;
    expect(datesOf(row({ ...pending, valueDateTime: '2026-03-01T00:00:00.000Z' }))).toBe(
      'made 1 Mar 2026, expected 3 Mar 2999',
    );
    expect(datesOf(row(pending))).toBe('expected 3 Mar 2999');
    expect(datesOf(row({ status: 'PENDING', date: '2026-03-01T00:00:00.000Z' }))).toBe('made 1 Mar 2026');
    expect(datesOf(row({ status: 'PENDING' }))).toBe('without a date');
  });

  it('do not say why it is in doubt: its flag does', () => {
    expect(doubtOf({ reason: 'booked-vanished', candidates: [] })).toContain('no longer shows');
    expect(doubtOf({ reason: 'uncertain-link', candidates: [] })).toContain('one purchase or two');
  });
});

describe('what the browser came back for', () => {
  const payment = (status: Payment['status']): Payment => {
    return {
      id: 'p',
      institutionId: 'i',
      status,
      amount: 12.5,
      currency: 'GBP',
      createdAt: '2026-11-21T10:00:00.000Z',
    };
  };
  const connection = (status: Connection['status']): Connection => {
    const createdAt = '2026-11-21T10:00:00.000Z';
    return { id: 'c', institutionId: 'i', status, health: 'unknown', createdAt, forecast: forecast({}) };
  };
  const known = { connections: [connection('active')], payments: [payment('PENDING')], nameOf: () => 'Meridian Bank' };

  it('is told as it stands by now, not as it stood when the browser left the bank', () => {
    expect(toldOf({ payment: 'p' }, known)).toBe('Your payment of £12.50 is with the bank.');
    expect(toldOf({ payment: 'p' }, { ...known, payments: [payment('COMPLETED')] })).toBe(
      'Your payment of £12.50 is made.',
    );
    expect(toldOf({ connection: 'c' }, known)).toContain('Meridian Bank is connected.');
    expect(toldOf({ connection: 'c' }, { ...known, connections: [connection('denied')] })).toContain('did not connect');
  });

  it('leaves the connection as it is when a renewal did not succeed', () => {
    expect(toldOf({ connection: 'c', renewal: 'completed' }, known)).toBe('The consent of Meridian Bank is renewed.');
    expect(toldOf({ connection: 'c', renewal: 'denied' }, known)).toContain('goes on with the consent that it has');
    const lapsed = { ...known, connections: [connection('needs-user')] };
    expect(toldOf({ connection: 'c', renewal: 'completed' }, lapsed)).toBeUndefined();
  });

  it('is not told before it is known', () => {
    expect(toldOf({ payment: 'p' }, { ...known, payments: undefined })).toBeUndefined();
  });
});
