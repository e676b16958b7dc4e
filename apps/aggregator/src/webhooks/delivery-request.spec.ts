import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Agent } from 'undici';
import { createDeliveryAgent, isAccepted, send, signBody } from './delivery-request.js';

const body = Buffer.from('{"amount":10.10,"name":"Zoë"}');
let server: Server | undefined;
let agent: Agent | undefined;

async function receiver(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  server = createServer(answer);
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

function sending(url: string, { allowPrivate = true, timeoutMs = 2_000 } = {}) {
  agent = createDeliveryAgent({ allowPrivate });
  return send({ url, body, signature: signBody(body, 's'), eventId: 'event' }, { agent, allowPrivate, timeoutMs });
}

afterEach(async () => {
  await agent?.destroy();
  server?.closeAllConnections();
  await new Promise((done) => (server ? server.close(done) : done(undefined)));
  server = undefined;
});

describe('one request to a receiver', () => {
  it('sends the signed bytes, the signature and the event id', async () => {
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
    expect(headers['webhook-signature']).toBe(createHmac('sha256', 's').update(bytes).digest('hex'));
    expect(headers['webhook-signature']).toMatch(/^[0-9a-f]{64}$/);
    expect(headers['webhook-id']).toBe('event');
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
