import { describe, expect, it } from 'vitest';
import { AddressRefused, callbackUrlFault, isPublicAddress, publicLookup } from './public-address.js';

describe('callback addresses', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fc00::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:7f00:1::',
    '2001:db8::1',
    'ff02::1',
    'not an address',
  ])('does not call %s public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['8.8.8.8', '172.32.0.1', '1.1.1.1', '2606:4700::1111', '2a00:1450::1'])('calls %s public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    'http://shop.example/hook',
    'ftp://shop.example/',
    'hook',
    'https://user:pass@shop.example/',
    'https://shop.example/?a=1',
    'https://shop.example/?',
    'https://shop.example/#a',
    'https://127.0.0.1/hook',
    'https://[::1]/hook',
    'https://localhost/hook',
    'https://0x7f.1/hook',
    `https://shop.example/${'a'.repeat(2_048)}`,
  ])('refuses %s in production', (url) => {
    expect(callbackUrlFault(url, { allowPrivate: false })).toBeTypeOf('string');
  });

  it('takes a public https address in production', () => {
    expect(callbackUrlFault('https://shop.example:8443/hooks/a', { allowPrivate: false })).toBeUndefined();
  });

  it('takes plain http on this machine in the sandbox, still without query parameters', () => {
    expect(callbackUrlFault('http://127.0.0.1:3001/webhooks', { allowPrivate: true })).toBeUndefined();
    expect(callbackUrlFault('http://127.0.0.1:3001/webhooks?a=1', { allowPrivate: true })).toBe(
      'must not have query parameters',
    );
  });

  it('refuses to connect to a name that leads to this machine', async () => {
    const error = await new Promise((done) => publicLookup('localhost', {}, (fault) => done(fault)));
    expect(error).toBeInstanceOf(AddressRefused);
  });
});
