/** A refusal of one of our programs, with what it said. */
export class RefusedCall extends Error {
  override readonly name = 'RefusedCall';
  constructor(
    readonly status: number,
    readonly body: string,
    what: string,
  ) {
    super(`${what} was refused with ${status}: ${body.slice(0, 500)}`);
  }
}

export interface CallOptions {
  method?: 'GET' | 'POST' | 'DELETE';
  /** Sent as `Authorization: Bearer …`. */
  bearer?: string;
  /** Sent as `Authorization: Basic …`. */
  basic?: { id: string; secret: string };
  headers?: Record<string, string>;
  body?: unknown;
  timeoutMs?: number;
}

/**
 * One JSON call to one of our programs, as any client would make it. The caller names the type it expects.
 * @throws RefusedCall for every status that is not 2xx
 */
export async function call<T>(url: string, options: CallOptions = {}): Promise<T> {
  const { method = 'GET', bearer, basic, body, timeoutMs = 60_000 } = options;
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
  if (bearer !== undefined) headers['authorization'] = `Bearer ${bearer}`;
  if (basic) headers['authorization'] = `Basic ${Buffer.from(`${basic.id}:${basic.secret}`).toString('base64')}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const answer = await fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await answer.text();
  if (!answer.ok) throw new RefusedCall(answer.status, text, `${method} ${new URL(url).pathname}`);
  return JSON.parse(text) as T;
}
