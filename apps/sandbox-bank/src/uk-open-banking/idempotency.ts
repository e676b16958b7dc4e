import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { dayMs } from '../clock.js';
import type { BankContext } from '../oidc/authorisation-server.js';
import { refusals } from './error.js';
import { rawBodyOf } from './raw-body.js';

const keyLengthMax = 40;

export interface Attempt {
  clientId: string;
  route: string;
  key: string;
  bodyHash: string;
}

/** The request's idempotency key with what it covers (Read/Write v4.0, "Idempotency"). */
export function attemptOf(request: FastifyRequest, clientId: string, route: string): Attempt {
  const key = request.headers['x-idempotency-key'];
  if (typeof key !== 'string' || key.trim() === '') throw refusals.headerMissing('x-idempotency-key');
  if (key.length > keyLengthMax)
    throw refusals.headerInvalid('x-idempotency-key', `x-idempotency-key is longer than ${keyLengthMax} characters`);
  return { clientId, route, key, bodyHash: createHash('sha256').update(rawBodyOf(request)).digest('hex') };
}

/** The resource that the same attempt made within 24 hours of the bank's clock. The same key with another body is refused. */
export function earlierResource({ store, bank, clock }: BankContext, attempt: Attempt): string | undefined {
  const row = store.get<{ bodyHash: string; resourceId: string; createdAt: number }>(
    'SELECT bodyHash, resourceId, createdAt FROM idempotency WHERE bank = ? AND clientId = ? AND route = ? AND key = ?',
    bank.id,
    attempt.clientId,
    attempt.route,
    attempt.key,
  );
  if (!row || clock.now() - row.createdAt >= dayMs) return undefined;
  if (row.bodyHash !== attempt.bodyHash) throw refusals.keyReused();
  return row.resourceId;
}

export function remember({ store, bank, clock }: BankContext, attempt: Attempt, resourceId: string): void {
  store.run(
    `INSERT INTO idempotency (bank, clientId, route, key, bodyHash, resourceId, createdAt) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (bank, clientId, route, key) DO UPDATE SET bodyHash = excluded.bodyHash, resourceId = excluded.resourceId, createdAt = excluded.createdAt`,
    bank.id,
    attempt.clientId,
    attempt.route,
    attempt.key,
    attempt.bodyHash,
    resourceId,
    clock.now(),
  );
}
