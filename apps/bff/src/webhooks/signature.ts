import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

/** What a secret row's sealed text is bound to. */
export function endpointSecretContext(secretId: string): string {
  return `endpoint-secret:${secretId}`;
}

/** A new secret as the Standard Webhooks specification writes it: 256 random bits in base64. */
export function newEndpointSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

/**
 * The headers of one attempt (Standard Webhooks 1.0.0). The id is the event's and the same on every attempt, the time is
 * the attempt's. One signature for each live secret, so a receiver that changes over accepts it with either.
 */
export function signedHeaders(
  body: Buffer,
  { id, at, secrets }: { id: string; at: Date; secrets: readonly string[] },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
