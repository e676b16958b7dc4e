import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { BankHttp, kindOf, retryAfterMs, toUuid, type BankRequest, type Exchange } from './bank-http.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let handler: Handler = (_request, response) => void response.end('{}');
let origin = '';
let reports: Exchange[] = [];
let seen: string[] = [];
const server = createServer((request, response) => {
  seen.push(`${request.method} ${String(request.headers['x-fapi-interaction-id'])}`);
  handler(request, response);
});
const http = new BankHttp({
  report: (exchange) => void reports.push(exchange),
  deadlineMs: 5_000,
  bodyBytesMax: 1_000,
});

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await http.close();
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
});
beforeEach(() => {
  reports = [];
  seen = [];
});

const send = (changes: Partial<BankRequest> = {}) =>
  http.send({
    institutionId: 'meridian',
    method: 'GET',
    url: new URL('/accounts/GB33BUKB20201555555555?secret=1', origin),
    template: '/accounts/{AccountId}',
    signal: new AbortController().signal,
    tracingId: '0123456789abcdef0123456789abcdef',
    ...changes,
  });
const failing = (kind: string) => expect.objectContaining({ name: 'InstitutionError', kind });

describe('an exchange with a bank', () => {
  it('sends the tracing id as a UUID and reports a template, never the address', async () => {
    handler = (_request, response) => void response.writeHead(201).end('{"a":1}');
    const { status, body } = await send();
    expect([status, body.toString()]).toEqual([201, '{"a":1}']);
    expect(seen).toEqual(['GET 01234567-89ab-cdef-0123-456789abcdef']);
    expect(reports).toEqual([
      {
        institutionId: 'meridian',
        method: 'GET',
        template: '/accounts/{AccountId}',
        tracingId: '0123456789abcdef0123456789abcdef',
        status: 201,
        ms: expect.any(Number),
      },
    ]);
    expect(JSON.stringify(reports)).not.toMatch(/GB33|secret/);
  });

  it('ends at its deadline, with the body or before it', async () => {
    handler = () => undefined;
    await expect(send({ deadlineMs: 50 })).rejects.toEqual(failing('timeout'));
    handler = (_request, response) => void response.writeHead(200).write('{');
    await expect(send({ deadlineMs: 50 })).rejects.toEqual(failing('timeout'));
    expect(reports.map(({ failure }) => failure)).toEqual(['timeout', 'timeout']);
  });

  it('ends with the reason of a caller that gives up', async () => {
    const caller = new AbortController();
    const reason = new Error('gone home');
    handler = () => caller.abort(reason);
    await expect(send({ signal: caller.signal })).rejects.toBe(reason);
  });

  it('repeats a read once when the connection was cut', async () => {
    let calls = 0;
    handler = (request, response) => {
      calls += 1;
      if (calls === 1) request.socket.destroy();
      else response.end('{}');
    };
    expect((await send()).status).toBe(200);
    expect(calls).toBe(2);
    handler = (request) => {
      calls += 1;
      request.socket.destroy();
    };
    await expect(send()).rejects.toEqual(failing('unavailable'));
    expect(calls).toBe(4);
  });

  it('never repeats a POST', async () => {
    handler = (request) => void request.socket.destroy();
    await expect(send({ method: 'POST', body: Buffer.from('{}') })).rejects.toEqual(failing('unavailable'));
    expect(seen).toHaveLength(1);
  });

  it('does not follow a redirect', async () => {
    handler = (_request, response) => void response.writeHead(302, { location: '/elsewhere' }).end();
    expect((await send()).status).toBe(302);
    expect(seen).toHaveLength(1);
  });

  it.each<[string, (text: string) => Buffer]>([
    ['gzip', gzipSync],
    ['X-GZip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (text) => Buffer.from(text)],
  ])('unpacks what the bank packed unasked (%s), within the same bound', async (coding, pack) => {
    const answering = (body: Buffer): Handler => {
      return (_request, response) => void response.writeHead(200, { 'content-encoding': coding }).end(body);
    };
    handler = answering(pack('{"a":1}'));
    expect((await send()).body.toString()).toBe('{"a":1}');
    handler = answering(pack(' '.repeat(1_001)));
    await expect(send()).rejects.toEqual(failing('malformed'));
  });

  it.each(['gzip', 'zstd', 'constructor'])('refuses what it cannot unpack (%s)', async (coding) => {
    handler = (_request, response) => void response.writeHead(200, { 'content-encoding': coding }).end('{"a":1}');
    await expect(send()).rejects.toEqual(failing('malformed'));
  });

  it('reads no more than its bound', async () => {
    handler = (_request, response) => void response.end('x'.repeat(1_001));
    await expect(send()).rejects.toEqual(failing('malformed'));
  });

  it('says that a bank nobody reaches is unavailable', async () => {
    await expect(send({ url: new URL('http://127.0.0.1:1/') })).rejects.toEqual(failing('unavailable'));
  });
});

describe('the fetch for openid-client', () => {
  it('goes through the same pool, deadline and report', async () => {
    const fetcher = http.fetcher({
      institutionId: 'meridian',
      signal: new AbortController().signal,
      tracingId: 'f'.repeat(32),
    });
    handler = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('{"issuer":1}');
    const response = await fetcher(`${origin}/token`, { method: 'POST', body: 'grant_type=x' });
    expect(await response.json()).toEqual({ issuer: 1 });
    expect(reports).toMatchObject([{ method: 'POST', template: '/token', status: 200 }]);
    handler = (_request, answer) => void answer.end('x'.repeat(1_001));
    await expect(fetcher(`${origin}/token`, { method: 'GET' })).rejects.toEqual(failing('malformed'));
  });
});

describe('what a status means', () => {
  it.each([
    [401, 'unauthorised'],
    [403, 'rejected'],
    [400, 'rejected'],
    [404, 'not-found'],
    [408, 'timeout'],
    [429, 'rate-limited'],
    [500, 'unavailable'],
    [503, 'unavailable'],
    [504, 'timeout'],
    [302, 'malformed'],
  ])('%i is %s', (status, kind) => {
    expect(kindOf(status)).toBe(kind);
  });

  it.each([
    ['120', 120_000],
    ['0', 0],
    [' 5 ', 5_000],
    ['Sat, 21 Nov 2026 10:01:00 GMT', 60_000],
    ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('Retry-After %s asks for %s ms', (header, ms) => {
    expect(retryAfterMs(header, new Date('2026-11-21T10:00:00Z'))).toBe(ms);
  });

  it('a tracing id keeps its digits in the UUID form', () => {
    expect(toUuid('0123456789abcdef0123456789abcdef')).toBe('01234567-89ab-cdef-0123-456789abcdef');
  });
});
