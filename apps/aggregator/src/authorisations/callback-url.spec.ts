import { describe, expect, it } from 'vitest';
import { callbackLocation, isPlainHttp, isRegisteredCallback } from './callback-url.js';

const registered = ['https://shop.example/cb', 'https://other.example/cb?app=1'];
const subject = { applicationUserId: 'ann', userUuid: 'u-1', institutionId: 'meridian-sandbox' };

describe('a callback', () => {
  it('is registered when origin and path are, whatever its query', () => {
    expect(isRegisteredCallback('https://shop.example/cb', registered)).toBe(true);
    expect(isRegisteredCallback('https://shop.example/cb?order=7', registered)).toBe(true);
    expect(isRegisteredCallback('https://other.example/cb?app=1', registered)).toBe(true);
  });

  it.each([
    'https://shop.example/cb/',
    'https://shop.example/cb2',
    'https://shop.example:8443/cb',
    'http://shop.example/cb',
    'https://shop.example.evil.example/cb',
    'https://evil@shop.example/cb',
    'https://shop.example/cb#x',
    'https://other.example/cb?app=2',
    'https://other.example/cb',
    'javascript:alert(1)',
    'nonsense',
  ])('is not registered: %s', (callback) => {
    expect(isRegisteredCallback(callback, registered)).toBe(false);
  });

  it('tells plain http', () => {
    expect(isPlainHttp('http://localhost:3001/cb')).toBe(true);
    expect(isPlainHttp('https://shop.example/cb')).toBe(false);
  });

  it('receives the one-time token behind its own query', () => {
    const location = callbackLocation({
      callback: 'https://shop.example/cb?order=7',
      subject,
      outcome: { kind: 'one-time-token', oneTimeToken: 'a-b_c' },
    });
    expect(location).toBe(
      'https://shop.example/cb?order=7&one-time-token=a-b_c&application-user-id=ann&user-uuid=u-1&institution=meridian-sandbox',
    );
  });

  it('receives an error with its source, the description in Base64', () => {
    const location = callbackLocation({
      callback: 'https://shop.example/cb',
      subject: { ...subject, applicationUserId: undefined },
      outcome: { kind: 'error', error: 'access_denied', source: 'user', description: 'Nö' },
    });
    const query = new URL(location).searchParams;
    expect([...query.keys()]).toEqual(['user-uuid', 'institution', 'error', 'error-source', 'error-description']);
    expect(Buffer.from(query.get('error-description') ?? '', 'base64').toString('utf8')).toBe('Nö');
  });

  it('receives forwarded parameters in each of their forms, and never what only we may use', () => {
    const outcome = { kind: 'consent', consentToken: 't' } as const;
    const fromBank = new URLSearchParams({ code: 'secret', ref: 'bank-7' });
    const forwarded = (forward: string[] | Record<string, string>) => {
      const location = callbackLocation({ callback: 'https://shop.example/cb', subject, outcome, forward, fromBank });
      return [...new URL(location).searchParams].slice(4);
    };
    expect(forwarded(['basket=12=3', 'ref', 'missing', 'code'])).toEqual([
      ['basket', '12=3'],
      ['ref', 'bank-7'],
    ]);
    expect(forwarded({ basket: '12' })).toEqual([['basket', '12']]);
  });
});
