import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signWebhook } from '#libs/client';
import { type Claim, explainSignature } from './explain-signature.js';

const secret = 'a secret';
const text = '{"type":"a","event":{"name":"Zoë"}}';
const signature = signWebhook(text, secret);

describe('the explanation of a signature', () => {
  it.each<[string, Partial<Omit<Claim, 'body'>> & { body?: string }]>([
    ['the signature is right', {}],
    ['the secret has blanks', { secret: `${secret}\n` }],
    ['the signature has blanks', { signature: ` ${signature}` }],
    ['capitals', { signature: signature.toUpperCase() }],
    ['a prefix', { signature: `sha256=${signature}` }],
    ['base64', { signature: createHmac('sha256', secret).update(text).digest('base64') }],
    ['a line end that was not signed', { body: `${text}\n` }],
    ['byte order mark', { body: `\ufeff${text}` }],
    ['parsed and printed', { body: JSON.stringify(JSON.parse(text), undefined, 2) }],
    ['other bytes, or with another secret', { body: text.replace('a', 'b') }],
    ['no signature', { signature: undefined }],
    ['not 64', { signature: 'zz' }],
  ])('names it: %s', (because, { body = text, ...claim }) => {
    const explained = explainSignature({ secret, signature, ...claim, body: Buffer.from(body) });
    expect(explained.because).toContain(because);
    expect(explained.valid).toBe(because === 'the signature is right');
  });

  it('names a line end that was lost', () => {
    const claim = { secret, signature: signWebhook(`${text}\n`, secret), body: Buffer.from(text) };
    expect(explainSignature(claim).because).toContain('lost its last line end');
  });
});
