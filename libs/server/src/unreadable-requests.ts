import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Problem, problems } from '#libs/contract';
import type { ErrorWriter } from './exception.filter.js';
import { newTracingId } from './tracing.js';

/** What Node's parser says of a connection on which no request could be read. */
type ConnectionError = Error & { code?: string };

function problemOf({ code }: ConnectionError): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return problems.headersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return problems.requestTimeout();
  return problems.badRequest();
}

/**
 * Answers what never becomes a request, so that no hook or filter sees it: headers that are too large, a request whose end does
 * not come, bytes that are no HTTP. The error body is the program's own, and the connection ends with it.
 */
export function answerUnreadable(write: ErrorWriter): (error: ConnectionError, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    if (socket.writable) socket.write(answerTo(problemOf(error), write));
    socket.destroy(error);
  };
}

function answerTo(problem: Problem, write: ErrorWriter): string {
  const id = newTracingId();
  const { status, headers, body } = write(problem, { id });
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    'x-tracing-id': id,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`;
}
