import { Module, type Provider, type Type } from '@nestjs/common';
import { createLogger, createProblemWriter, bootstrap, type ErrorWriter, type Logger } from '#libs/server';

/** An answer that is read to its end. */
export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed JSON body, the text where it is something else, undefined where there is none. */
  body: unknown;
}

export interface Served {
  url: string;
  /** Asks `path`; a body that is not text is sent as JSON. Redirects are not followed. */
  ask: (
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string> },
  ) => Promise<Answer>;
  /** Every line the program has logged so far, parsed. */
  logged: () => Record<string, unknown>[];
  close: () => Promise<void>;
}

export interface ServeOptions {
  /** How errors are written; the interface's four shapes by default. */
  errors?: (logger: Logger) => ErrorWriter;
  rawBodyRoutes?: readonly string[];
}

/** A provider that stands in for `type`: only what the test uses has to be there. */
export function fake<T extends object>(type: Type<T>, members: Partial<T>): Provider {
  return { provide: type, useValue: members };
}

/**
 * Serves one controller over real HTTP as its program would: hooks, pipe and filter are the real ones, and so are its guards; what
 * lies behind it are the `fakes`.
 */
export async function serveController(
  controller: Type | Type[],
  fakes: Provider[] = [],
  options: ServeOptions = {},
): Promise<Served> {
  @Module({ controllers: [controller].flat(), providers: fakes })
  class ServedModule {}

  const lines: string[] = [];
  const logger = createLogger('served', { write: (line) => void lines.push(line) }, 'info');
  const { url, close } = await bootstrap(ServedModule, {
    name: 'served',
    port: 0,
    host: '127.0.0.1',
    signals: false,
    logger,
    errors: options.errors ?? ((log) => createProblemWriter({ logger: log })),
    rawBodyRoutes: options.rawBodyRoutes ?? [],
  });
  return {
    url,
    ask: (method, path, { body, headers = {} } = {}) => ask(`${url}${path}`, { method, body, headers }),
    logged: () => lines.map((line): Record<string, unknown> => JSON.parse(line)),
    close,
  };
}

async function ask(
  url: string,
  { method, body, headers }: { method: string; body: unknown; headers: Record<string, string> },
): Promise<Answer> {
  const isText = typeof body === 'string';
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  return readAnswer(response);
}

/** Reads a response to its end. */
export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  const parsed: unknown = isJson && text !== '' ? JSON.parse(text) : text || undefined;
  return { status: response.status, headers: response.headers, body: parsed };
}
