import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import { Agent, request } from 'undici';
import { AddressRefused, isPublicAddress, publicLookup } from './callback-address.js';

/** How one request to a receiver ended: a status, or why there was none. */
export type Outcome = { httpStatus: number } | { failure: 'timeout' | 'refused-address' | 'unreachable' };

export interface SignedRequest {
  url: string;
  /** Sent byte for byte; the signature is over exactly these bytes. */
  body: Buffer;
  signature: string;
  /** The same on every attempt of an event, so that a receiver can tell a repeat. */
  eventId: string;
}

/** The interface's signature (service-wide choice): lowercase hex HMAC-SHA256, keyed with the UTF-8 bytes of the secret. */
export function signBody(body: Buffer, secret: string): string {
  return createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex');
}

/** Whether the receiver took the event: any 2xx. A redirect is not followed and counts as a refusal. */
export function isAccepted(outcome: Outcome): boolean {
  return 'httpStatus' in outcome && outcome.httpStatus >= 200 && outcome.httpStatus < 300;
}

/** Connections to receivers; without `allowPrivate` they reach public addresses only. */
export function createDeliveryAgent({ allowPrivate }: { allowPrivate: boolean }): Agent {
  return new Agent({
    connections: 8,
    keepAliveTimeout: 10_000,
    connect: allowPrivate ? { timeout: 5_000 } : { timeout: 5_000, lookup: publicLookup },
  });
}

function whyNot(error: unknown): Outcome {
  const chain: unknown[] = [];
  for (let at = error; at instanceof Error && chain.length < 5; at = at.cause) chain.push(at);
  const names = chain.map((each) => (each instanceof Error ? each.name : ''));
  if (chain.some((each) => each instanceof AddressRefused)) return { failure: 'refused-address' };
  if (names.some((name) => /Timeout|AbortError/.test(name))) return { failure: 'timeout' };
  return { failure: 'unreachable' };
}

/** Sends one signed request and reports how it ended; the answer's body is thrown away unread beyond 64 KiB. */
export async function send(
  { url, body, signature, eventId }: SignedRequest,
  { agent, allowPrivate, timeoutMs }: { agent: Agent; allowPrivate: boolean; timeoutMs: number },
): Promise<Outcome> {
  // A literal address never reaches the resolver, so it is judged here.
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) return { failure: 'refused-address' };
  try {
    const answer = await request(url, {
      method: 'POST',
      dispatcher: agent,
      body,
      headers: {
        'content-type': 'application/json;charset=UTF-8',
        'user-agent': 'tributary',
        'webhook-id': eventId,
        'webhook-signature': signature,
      },
      signal: AbortSignal.timeout(timeoutMs),
    });
    // The status has been given; how the rest of the answer reads changes nothing.
    await answer.body.dump({ limit: 65_536 }).catch(() => undefined);
    return { httpStatus: answer.statusCode };
  } catch (error) {
    return whyNot(error);
  }
}
