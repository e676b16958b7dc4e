import { createHmac, hash, KeyObject, timingSafeEqual } from 'node:crypto';

/**
 * The lowercase hex SHA-256 under which a token or secret is stored and looked up; with a key, its HMAC. A fast hash is
 * enough because what it hashes is random and at least 128 bits long, never chosen by a person.
 */
export function hashToken(text: string, key?: string | KeyObject): string {
  return key === undefined ? hash('sha256', text, 'hex') : createHmac('sha256', key).update(text, 'utf8').digest('hex');
}

/** Compares two texts in a time that depends on their hashes' length only. */
export function constantTimeEqual(left: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'));
}
