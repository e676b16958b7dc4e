import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { SecretBox, UnsealingError } from './secret-box.js';
import { constantTimeEqual, hashToken } from './token-hash.js';

const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

describe('SecretBox', () => {
  const [old, current] = [key('k1'), key('k2')];
  const box = new SecretBox(current);

  it('opens what it sealed, under the same context and no other', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.string(), (plain, context, other) => {
        fc.pre(other !== context);
        const sealed = box.seal(plain, context);
        expect(box.open(sealed, context)).toBe(plain);
        expect(() => box.open(sealed, other)).toThrow(UnsealingError);
      }),
      { numRuns: 200 },
    );
  });

  it('refuses a text with any one character changed', () => {
    const sealed = box.seal('the grant', 'consent:1:grant');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
      expect(() => box.open(changed, 'consent:1:grant')).toThrow(UnsealingError);
    }
  });

  it('never seals twice alike, and shows nothing of the plain text', () => {
    const texts = new Set(Array.from({ length: 100 }, () => box.seal('GB33BUKB20201555555555', 'c')));
    expect(texts.size).toBe(100);
    for (const text of texts) expect(text).not.toContain('GB33');
  });

  it('seals with the first key of the ring and opens with all of them', () => {
    const before = new SecretBox(old).seal('kept', 'c');
    const rotated = new SecretBox(`${current},${old}`);
    expect(rotated.open(before, 'c')).toBe('kept');
    expect(rotated.isStale(before)).toBe(true);
    expect(rotated.seal('new', 'c')).toMatch(/^v1\.k2\./);
    expect(() => box.open(before, 'c')).toThrow(UnsealingError);
  });

  it.each(['', 'k1', 'k1:short', `${old},${old}`, `k 1:${randomBytes(32).toString('base64')}`])(
    'refuses the ring %j without showing a key',
    (ring) => {
      expect(() => new SecretBox(ring)).toThrow('id:base64 of 32 bytes');
    },
  );
});

describe('hashToken', () => {
  it('is the SHA-256, or its HMAC under a key', () => {
    expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(hashToken('what do ya want for nothing?', 'Jefe')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  it('compares texts of any length', () => {
    expect(constantTimeEqual('a', 'a')).toBe(true);
    expect(constantTimeEqual('a', 'ab')).toBe(false);
  });
});
