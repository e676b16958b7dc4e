import { randomBytes } from 'node:crypto';
import { constantTimeEqual, hashToken } from '#libs/database';

/** A new application secret: 32 random bytes as 64 hexadecimal characters. It is shown once and kept as a hash. */
export function newSecret(): string {
  return randomBytes(32).toString('hex');
}

/**
 * What is kept of a secret: SHA-256 keyed with the application's id, so that equal secrets do not look equal.
 * A slow hash would add nothing, because nobody can guess 256 random bits.
 */
export function hashSecret(applicationId: string, secret: string): string {
  return hashToken(secret, `application:${applicationId}`);
}

/** The columns of an application that tell its secrets. */
export interface SecretColumns {
  secretHash: string | null;
  previousSecretHash: string | null;
  previousSecretUntil: Date | null;
}

/** Whether `hash` is that of the current secret, or of the one before it while its overlap lasts. */
export function matchesSecret(kept: SecretColumns, hash: string, at: Date): boolean {
  const isCurrent = constantTimeEqual(kept.secretHash ?? '', hash);
  const isPrevious = constantTimeEqual(kept.previousSecretHash ?? '', hash);
  return isCurrent || (isPrevious && kept.previousSecretUntil !== null && kept.previousSecretUntil > at);
}
