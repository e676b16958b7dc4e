import { describe, expect, it } from 'vitest';
import { Problem } from '#libs/contract';
import { checkReturnUrl } from './return-address.js';

const registered = ['https://shop.example/bank', 'https://other.example/'];

describe('where a browser is sent back to', () => {
  it('is a registered address or a path below one', () => {
    for (const url of [
      'https://shop.example/bank',
      'https://shop.example/bank/done?order=1',
      'https://other.example/anything',
    ]) {
      expect(checkReturnUrl(url, { registered, production: true })).toBe(url);
    }
    expect(checkReturnUrl(undefined, { registered, production: true })).toBeUndefined();
  });

  it('is nothing that only looks like one', () => {
    for (const url of [
      'https://shop.example/banking',
      'https://shop.example.evil.example/bank',
      'https://shop.example:8443/bank',
      'http://shop.example/bank',
      'https://shop.example@evil.example/bank',
      'https://user@shop.example/bank',
    ]) {
      expect(() => checkReturnUrl(url, { registered, production: true })).toThrow(Problem);
    }
  });

  it('may be anything for a merchant without addresses, but never in production', () => {
    expect(checkReturnUrl('http://localhost:5173/back', { registered: [], production: false })).toBe(
      'http://localhost:5173/back',
    );
    expect(() => checkReturnUrl('https://shop.example/', { registered: [], production: true })).toThrow(Problem);
  });
});
