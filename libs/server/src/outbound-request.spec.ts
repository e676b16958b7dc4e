import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Agent } from 'undici';
import { resetClock, setClock } from './clock.js';
import { createOutboundAgent, isAccepted, postOutbound } from './outbound-request.js';

const body = Buffer.from('{"amount":10.10,"name":"Zoë"}');
let server: Server | undefined;
let agent: Agent | undefined;

async function receiver(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  server = createServer(answer);
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

function sending(url: string, { allowPrivate = true, timeoutMs = 10_000 } = {}) {
  agent = createOutboundAgent({ allowPrivate });
  return postOutbound({ url, body, headers: { 'webhook-id': 'event' } }, { agent, allowPrivate, timeoutMs });
}

afterEach(async () => {
  resetClock();
  await agent?.destroy();
  server?.closeAllConnections();
  await new Promise((done) => (server ? server.close(done) : done(undefined)));
  server = undefined;
});

describe('a request to somebody else’s server', () => {
  it('sends the bytes as they are, with the headers it was given', async () => {
    const seen = Promise.withResolvers<{ headers: IncomingMessage['headers']; bytes: Buffer }>();
    const url = await receiver((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.resolve({ headers: request.headers, bytes: Buffer.concat(chunks) });
        response.writeHead(204).end();
      });
    });
    expect(await sending(url)).toEqual({ httpStatus: 204 });
    const { headers, bytes } = await seen.promise;
    expect(bytes).toEqual(body);
    expect(headers).toMatchObject({ 'webhook-id': 'event', 'content-type': 'application/json;charset=UTF-8' });
  });

  it('does not follow a redirect and does not count it as taken', async () => {
    let requests = 0;
    const url = await receiver((request, response) => {
      requests += 1;
      response.writeHead(302, { location: request.url ?? '/' }).end();
    });
    const outcome = await sending(url);
    expect(outcome).toEqual({ httpStatus: 302 });
    expect(isAccepted(outcome)).toBe(false);
    expect(requests).toBe(1);
  });

  it.each([
    ['120', 120_000],
    ['Wed, 01 Jan 2025 00:01:00 GMT', 60_000],
    ['Tue, 31 Dec 2024 00:00:00 GMT', undefined],
    ['soon', undefined],
  ])('reads from Retry-After: %s how long to stay away', async (header, retryAfterMs) => {
    const url = await receiver((_request, response) => response.writeHead(503, { 'retry-after': header }).end());
    setClock(() => new Date('2025-01-01T00:00:00Z'));
    const outcome = await sending(url);
    expect(outcome).toEqual({ httpStatus: 503, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  });

  it('gives up when the receiver does not answer in time', async () => {
    const url = await receiver(() => undefined);
    expect(await sending(url, { timeoutMs: 100 })).toEqual({ failure: 'timeout' });
  });

  it('reports a receiver that is not there', async () => {
    const url = await receiver(() => undefined);
    await new Promise((done) => server?.close(done));
    server = undefined;
    expect(await sending(url)).toEqual({ failure: 'unreachable' });
  });

  it('connects to no private address in production, by number or by name', async () => {
    let requests = 0;
    const url = await receiver((_request, response) => {
      requests += 1;
      response.end();
    });
    expect(await sending(url, { allowPrivate: false })).toEqual({ failure: 'refused-address' });
    const byName = url.replace('127.0.0.1', 'localhost');
    expect(await sending(byName, { allowPrivate: false })).toEqual({ failure: 'refused-address' });
    expect(requests).toBe(0);
  });
});
