import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { UkBank } from './banks.js';
import type { FaultName } from './scenarios.js';
import { toVersion } from './uk-open-banking/version-face.js';

const slowMs = 3_000;
const timeoutMs = 60_000;
const page =
  '<!doctype html><html><head><title>Service unavailable</title></head><body><h1>Please try again later</h1></body></html>';
/** Whatever shape a bank has chosen itself: a gateway in front of it answers in `tppMessages`. */
const tppMessage = (code: string, text: string): string =>
  JSON.stringify({ tppMessages: [{ category: 'ERROR', code, text }] });
function ukError(version: UkBank['version'], code: string, errorCode: string, message: string): string {
  const Errors = [{ ErrorCode: errorCode, Message: message }];
  return JSON.stringify(toVersion(version, { Id: 'sandbox-fault', Code: code, Message: message, Errors }));
}

function answer(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): true {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(body);
  return true;
}

type Status = '500' | '401' | '403' | '429';

function answerUk(fault: Status, response: ServerResponse, version: UkBank['version']): true {
  switch (fault) {
    case '500':
      return answer(response, 500, ukError(version, '500 InternalServerError', 'U000', 'An unexpected error occurred'));
    case '403':
      return answer(response, 403, ukError(version, '403 Forbidden', 'U028', 'The PSU has to authenticate again'));
    case '401':
      response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
      return true;
    default:
      response.writeHead(429, { 'retry-after': '2' }).end();
      return true;
  }
}

function answerBerlin(fault: Status, response: ServerResponse): true {
  const bodies: Record<Status, string> = {
    '500': tppMessage('INTERNAL_SERVER_ERROR', 'An unexpected error occurred'),
    '401': tppMessage('TOKEN_INVALID', 'The token is not valid'),
    '403': tppMessage('SERVICE_BLOCKED', 'The service is blocked'),
    '429': tppMessage('ACCESS_EXCEEDED', 'The access has been used up'),
  };
  return answer(response, Number(fault), bodies[fault], fault === '429' ? { 'retry-after': '2' } : {});
}

/** Plays a fault that needs no thought of the bank. Answers true when the request has been dealt with. */
export async function playOnWire(
  fault: FaultName,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const interaction = request.headers['x-fapi-interaction-id'];
  if (typeof interaction === 'string') response.setHeader('x-fapi-interaction-id', interaction);
  const requestId = request.headers['x-request-id'];
  if (typeof requestId === 'string') response.setHeader('x-request-id', requestId);
  const version = request.url?.includes('/open-banking/v3.1/') ? 'v3.1' : 'v4.0';
  const isBerlinGroup = /^\/banks\/[\w-]+\/v1\//.test(request.url ?? '');
  switch (fault) {
    case '500':
    case '401':
    case '403':
    case '429':
      return isBerlinGroup ? answerBerlin(fault, response) : answerUk(fault, response, version);
    case '503':
      response.writeHead(503).end();
      return true;
    case '204':
      response.writeHead(204).end();
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
