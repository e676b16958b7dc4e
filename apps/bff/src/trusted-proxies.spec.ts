import { describe, expect, it } from 'vitest';
import { trustedProxies } from './trusted-proxies.js';

describe('the proxies that are believed', () => {
  it('are those at certain addresses', () => {
    expect(trustedProxies('10.0.0.0/8, 192.0.2.7 ,fd00::/8,loopback')).toEqual([
      '10.0.0.0/8',
      '192.0.2.7',
      'fd00::/8',
      'loopback',
    ]);
  });

  it('are the nearest so many', () => {
    const trust = trustedProxies('2');
    if (typeof trust !== 'function') throw new Error('A count is a test of the distance');
    expect([0, 1, 2].map((hop) => trust('192.0.2.1', hop))).toEqual([true, true, false]);
  });

  it.each([
    '0',
    '11',
    '-1',
    'true',
    'everybody',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '::/0',
    '10.0.0/8',
    '10.0.0.1/8/8',
    ' ',
    '10.0.0.1,',
  ])('are never what %j says', (text) => {
    expect(trustedProxies(text)).toBeUndefined();
  });
});
