import { createHmac } from 'node:crypto';
import type { WebhookEvent } from '#libs/contract';

/** What a webhook's sealed secret is bound to. */
export function webhookSecretContext(webhookId: string): string {
  return `webhook:${webhookId}:secret`;
}

/** What an event's sealed payload is bound to. */
export function eventPayloadContext(eventId: string): string {
  return `event:${eventId}:payload`;
}

/** The stored parts of a delivered body. */
export interface BodyParts {
  webhookId: string;
  applicationId: string;
  category: string;
  /** JSON text, opened. */
  payload: string;
  metadata: Record<string, string> | null;
}

/** The delivered bytes. They are the same on every attempt, because everything in them is stored. */
export function deliveryBody({ webhookId, applicationId, category, payload, metadata }: BodyParts): Buffer {
  const event: unknown = JSON.parse(payload);
  const body: WebhookEvent = { id: webhookId, applicationId, type: category, event, metadata: metadata ?? {} };
  return Buffer.from(JSON.stringify(body));
}

/** The interface's signature (service-wide choice): lowercase hex HMAC-SHA256, keyed with the UTF-8 bytes of the secret. */
export function signBody(body: Buffer, secret: string): string {
  return createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex');
}

/** The secrets of a webhook, sealed. */
interface Secrets {
  sealedSecret: string;
  nextSealedSecret: string | null;
  nextSecretAt: Date | null;
}

/** The sealed secret that signs at an instant: the new one from `nextSecretAt` on. */
export function signingSecretOf({ sealedSecret, nextSealedSecret, nextSecretAt }: Secrets, at: Date): string {
  return nextSealedSecret !== null && nextSecretAt !== null && nextSecretAt <= at ? nextSealedSecret : sealedSecret;
}
