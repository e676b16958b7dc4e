import { describe, expect, it } from 'vitest';
import {
  ConnectionStatus,
  firstLookMs,
  isConnectionStatus,
  isReadable,
  isWaiting,
  nextLook,
  sentenceOf,
  sourcesOf,
  statusOfCallbackError,
  statusOfConsent,
} from './connection-state.js';

describe('the connection’s states', () => {
  it('are left only along the table', () => {
    expect(sourcesOf('active')).toEqual(['awaiting-authorisation', 'needs-user', 'abandoned']);
    expect(sourcesOf('revoked')).toEqual(['preparing', 'awaiting-authorisation', 'active', 'needs-user', 'abandoned']);
    expect(sourcesOf('preparing')).toEqual([]);
    expect(sourcesOf('needs-user')).toEqual(['active']);
  });

  it('end at denied, failed and revoked', () => {
    for (const end of [ConnectionStatus.denied, ConnectionStatus.failed, ConnectionStatus.revoked]) {
      expect(Object.values(ConnectionStatus).filter((to) => sourcesOf(to).includes(end))).toEqual([]);
    }
  });

  it('have data to fetch only when active', () => {
    expect(Object.values(ConnectionStatus).filter(isReadable)).toEqual(['active']);
    expect(Object.values(ConnectionStatus).filter(isWaiting)).toEqual(['awaiting-authorisation', 'abandoned']);
    expect(isConnectionStatus('connected')).toBe(false);
  });

  it('follow the aggregator’s consent, and wait while it has no token', () => {
    expect(statusOfConsent({ status: 'AUTHORIZED', consentToken: 't' })).toBe('active');
    expect(statusOfConsent({ status: 'AUTHORIZED' })).toBeUndefined();
    expect(statusOfConsent({ status: 'AWAITING_AUTHORIZATION' })).toBeUndefined();
    expect(statusOfConsent({ status: 'A_NEW_STATUS', consentToken: 't' })).toBeUndefined();
    expect(statusOfConsent({ status: 'REJECTED' })).toBe('denied');
    expect(statusOfConsent({ status: 'FAILED' })).toBe('failed');
  });

  it('tell a refusing customer from a failing bank', () => {
    expect(statusOfCallbackError({ error: 'access_denied' })).toBe('denied');
    expect(statusOfCallbackError({ error: 'anything', source: 'user' })).toBe('denied');
    expect(statusOfCallbackError({ error: 'server_error', source: 'institution' })).toBe('failed');
  });

  it('are looked after ever more rarely, for a day', () => {
    const createdAt = new Date('2026-01-01T00:00:00Z');
    const after = (ms: number, isElsewhere = false): number | undefined => {
      const at = new Date(createdAt.getTime() + ms);
      const next = nextLook(createdAt, at, { isElsewhere });
      return next && next.getTime() - at.getTime();
    };
    expect(after(0)).toBe(firstLookMs);
    expect(after(20 * 60_000)).toBe(20 * 60_000);
    expect(after(5 * 3_600_000)).toBe(3_600_000);
    expect(after(24 * 3_600_000)).toBeUndefined();
    expect([after(0, true), after(60_000, true), after(23 * 3_600_000, true)]).toEqual([3_000, 6_000, 3_600_000]);
    expect(after(24 * 3_600_000, true)).toBeUndefined();
  });

  it('have a sentence for the customer', () => {
    expect(sentenceOf('active')).toBe('Your bank is connected.');
    expect(sentenceOf('failed')).toBe('Your bank could not be connected.');
  });
});
