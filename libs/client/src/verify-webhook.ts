import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

export interface SignedDelivery {
  /** The bytes as they arrived; a parsed and printed body has another signature. */
  rawBody: Buffer;
  /** The `webhook-signature` header. */
  signature: string | undefined;
  /** Every secret that may have signed: two while one is being replaced. */
  secrets: readonly string[];
}

export type WebhookVerdict =
  | { valid: true; reason?: undefined }
  | { valid: false; reason: 'missing-signature' | 'malformed-signature' | 'no-secret' | 'wrong-signature' };

/**
 * Whether a delivery was signed with one of the secrets: lower-case hex of the HMAC-SHA256 over the raw body, keyed with
 * the UTF-8 bytes of the secret. All secrets are tried in constant time, so the answer does not tell which one came close.
 */
export function verifyWebhook({ rawBody, signature, secrets }: SignedDelivery): WebhookVerdict {
  if (signature === undefined || signature === '') return { valid: false, reason: 'missing-signature' };
  if (!/^[0-9a-f]{64}$/.test(signature)) return { valid: false, reason: 'malformed-signature' };
  if (secrets.length === 0) return { valid: false, reason: 'no-secret' };
  const claimed = Buffer.from(signature, 'hex');
  let valid = false;
  for (const secret of secrets) {
    const expected = createHmac('sha256', keyOf(secret)).update(rawBody).digest();
    valid = timingSafeEqual(expected, claimed) || valid;
  }
  return valid ? { valid } : { valid, reason: 'wrong-signature' };
}

/** The signature of a body, as the aggregator makes it. */
export function signWebhook(rawBody: Buffer | string, secret: string): string {
  return createHmac('sha256', keyOf(secret)).update(rawBody).digest('hex');
}

/** Imported once per secret: making the key costs more than the check. Bounded, the oldest goes first. */
const keys = new Map<string, KeyObject>();
const keysMax = 1000;

function keyOf(secret: string): KeyObject {
  const known = keys.get(secret);
  if (known) return known;
  const [oldest] = keys.keys();
  if (keys.size >= keysMax && oldest !== undefined) keys.delete(oldest);
  const key = createSecretKey(secret, 'utf8');
  keys.set(secret, key);
  return key;
}
