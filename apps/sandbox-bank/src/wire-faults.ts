import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { FaultName } from './scenarios.js';

const slowMs = 3_000;
const timeoutMs = 60_000;
const page =
  '<!doctype html><html><head><title>Service unavailable</title></head><body><h1>Please try again later</h1></body></html>';
const error = (code: string, errorCode: string, message: string): string =>
  JSON.stringify({
    Id: 'sandbox-fault',
    Code: code,
    Message: message,
    Errors: [{ ErrorCode: errorCode, Message: message }],
  });

function answer(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): true {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(body);
  return true;
}

/** Plays a fault that needs no thought of the bank. Answers true when the request has been dealt with. */
export async function playOnWire(
  fault: FaultName,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const interaction = request.headers['x-fapi-interaction-id'];
  if (typeof interaction === 'string') response.setHeader('x-fapi-interaction-id', interaction);
  switch (fault) {
    case '500':
      return answer(response, 500, error('500 InternalServerError', 'U000', 'An unexpected error occurred'));
    case '503':
      response.writeHead(503).end();
      return true;
    case '401':
      response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
      return true;
    case '403':
      return answer(response, 403, error('403 Forbidden', 'U028', 'The PSU has to authenticate again'));
    case '429':
      response.writeHead(429, { 'retry-after': '2' }).end();
      return true;
    case 'cut':
      request.socket.destroy();
      return true;
    case 'cut-body':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '4096' });
      response.write('{"Data":{"', () => request.socket.destroy());
      return true;
    case 'bad-json':
      return answer(response, 200, '{"Data":{"Account":[{"AccountId":"2228');
    case 'html':
      return answer(response, 200, page, { 'content-type': 'text/html; charset=utf-8' });
    case 'timeout':
      setTimeout(() => request.socket.destroy(), timeoutMs).unref();
      return true;
    case 'slow':
      await wait(slowMs, undefined, { ref: false });
      return false;
    default:
      return false;
  }
}
