import * as fc from 'fast-check';
import { signWebhook, verifyWebhook } from './verify-webhook.js';

const rawBody = Buffer.from('{"id":"1"}');

it('makes the published signature', () => {
  // HMAC-SHA256 test vector of RFC 4231, section 4.3.
  expect(signWebhook('what do ya want for nothing?', 'Jefe')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

it('accepts any body under any of the secrets', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (bytes, one, other) => {
      const body = Buffer.from(bytes);
      expect(verifyWebhook({ rawBody: body, signature: signWebhook(body, one), secrets: [other, one] })).toEqual({
        valid: true,
      });
    }),
  );
});

it('refuses every body with one byte changed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (bytes, at, flip) => {
      const signature = signWebhook(Buffer.from(bytes), 'secret');
      const changed = Buffer.from(bytes);
      const index = at % changed.length;
      changed[index] = (changed[index] ?? 0) ^ flip;
      expect(verifyWebhook({ rawBody: changed, signature, secrets: ['secret'] }).reason).toBe('wrong-signature');
    }),
  );
});

it.each([
  ['missing-signature', undefined, ['s']],
  ['missing-signature', '', ['s']],
  ['malformed-signature', 'abc', ['s']],
  ['malformed-signature', `sha256=${signWebhook(rawBody, 's')}`, ['s']],
  ['malformed-signature', signWebhook(rawBody, 's').toUpperCase(), ['s']],
  ['no-secret', signWebhook(rawBody, 's'), []],
  ['wrong-signature', signWebhook(rawBody, 's'), ['t', 'u']],
])('says %s', (reason, signature, secrets) => {
  expect(verifyWebhook({ rawBody, signature, secrets })).toEqual({ valid: false, reason });
});
