import { isIP } from 'node:net';
import { Agent, request } from 'undici';
import { now } from './clock.js';
import { AddressRefused, isPublicAddress, publicLookup } from './public-address.js';

/** How one request to a receiver ended: a status, and how long the receiver wants to be left alone; or why there was none. */
export type Outcome =
  | { httpStatus: number; retryAfterMs?: number }
  | { failure: 'timeout' | 'refused-address' | 'unreachable' };

/** A JSON body for somebody else's server. */
export interface OutboundRequest {
  url: string;
  /** Sent byte for byte; a signature is over exactly these bytes. */
  body: Buffer;
  headers: Readonly<Record<string, string>>;
}

/** Whether the receiver took it: any 2xx. A redirect is not followed and counts as a refusal. */
export function isAccepted(outcome: Outcome): boolean {
  return 'httpStatus' in outcome && outcome.httpStatus >= 200 && outcome.httpStatus < 300;
}

/** Connections to other people's servers; without `allowPrivate` they reach public addresses only. */
export function createOutboundAgent({ allowPrivate }: { allowPrivate: boolean }): Agent {
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

/** `Retry-After` (RFC 9110, section 10.2.3), seconds or a date, as milliseconds from now; absent when it says neither. */
function retryAfterMs(header: string | string[] | undefined): { retryAfterMs?: number } {
  if (typeof header !== 'string') return {};
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now().getTime();
  return ms > 0 ? { retryAfterMs: ms } : {};
}

/** How a request is sent; once `signal` aborts, nobody wants its outcome any more. */
export interface OutboundOptions {
  agent: Agent;
  allowPrivate: boolean;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Posts one body and reports how that ended; the answer's body is thrown away unread beyond 64 KiB. Throws the signal's reason
 * when it is given up, and nothing else.
 */
export async function postOutbound(
  { url, body, headers }: OutboundRequest,
  { agent, allowPrivate, timeoutMs, signal }: OutboundOptions,
): Promise<Outcome> {
  // A literal address never reaches the resolver, so it is judged here.
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) return { failure: 'refused-address' };
  signal?.throwIfAborted();
  const patience = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await request(url, {
      method: 'POST',
      dispatcher: agent,
      body,
      headers: { 'content-type': 'application/json;charset=UTF-8', 'user-agent': 'tributary', ...headers },
      signal: signal === undefined ? patience : AbortSignal.any([patience, signal]),
    });
    // The status has been given; how the rest of the answer reads changes nothing.
    await answer.body.dump({ limit: 65_536 }).catch(() => undefined);
    return { httpStatus: answer.statusCode, ...retryAfterMs(answer.headers['retry-after']) };
  } catch (error) {
    signal?.throwIfAborted();
    return whyNot(error);
  }
}
