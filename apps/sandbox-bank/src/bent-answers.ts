import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { FaultName } from './scenarios.js';

/** What becomes of an answer on its way out. */
interface Bend {
  status?: number;
  headers: Record<string, string>;
  body: (answer: Buffer) => Buffer;
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

const bends: Partial<Record<FaultName, Bend>> = {
  // All the work is done, and its answer lost.
  'token-500': {
    status: 500,
    headers: { 'content-type': 'application/json' },
    body: () => Buffer.from(JSON.stringify({ error: 'server_error' })),
  },
  gzip: { headers: { 'content-encoding': 'gzip' }, body: (answer) => gzipSync(answer) },
  bom: { headers: {}, body: (answer) => Buffer.concat([byteOrderMark, answer]) },
};

/** Lets the handler do all its work, and sends something else made of its answer, where the fault is of that kind. */
export function bendAnswer(fault: FaultName, response: ServerResponse): void {
  const bend = bends[fault];
  if (!bend) return;
  const [writeHead, end] = [response.writeHead.bind(response), response.end.bind(response)];
  const chunks: Buffer[] = [];
  const take = (chunk: unknown): void => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  // Nothing goes out before the whole answer is there: its head says how long it is.
  response.writeHead = (status: number, first?: unknown, second?: unknown) => {
    response.statusCode = status;
    const headers = typeof first === 'object' ? first : second;
    for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, String(value));
    return response;
  };
  response.write = (chunk: unknown) => {
    take(chunk);
    return true;
  };
  response.end = (chunk?: unknown) => {
    take(chunk);
    const body = bend.body(Buffer.concat(chunks));
    for (const [name, value] of Object.entries(bend.headers)) response.setHeader(name, value);
    response.setHeader('content-length', body.byteLength);
    writeHead(bend.status ?? response.statusCode);
    // What Node does at the end would otherwise be done to the taken parts.
    response.writeHead = writeHead;
    return end(body);
  };
}
