import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Running } from './bootstrap.js';
import { type Parcels, serveParcels } from './parcels.fixture.js';

let parcels: Parcels;

beforeAll(async () => {
  parcels = await serveParcels();
});
afterAll(async () => {
  await parcels.running.close();
  await parcels.details.close();
});

interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

function open({ url }: Running): Socket {
  const { port } = new URL(url);
  return connect(Number(port), '127.0.0.1');
}

/** What comes back until the connection ends. */
async function answerOn(socket: Socket): Promise<Answer> {
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  const [line = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((each) => each.split(': ') as [string, string]));
  expect(Number(headers.get('content-length'))).toBe(Buffer.byteLength(body));
  return { status: Number(line.split(' ')[1]), headers, body: JSON.parse(body) as Answer['body'] };
}

function send(to: Running, bytes: string): Promise<Answer> {
  const socket = open(to);
  socket.write(bytes);
  return answerOn(socket);
}

/** The server gives up a request whose end does not come, as it does after a minute. */
async function outwait(of: Running): Promise<Answer> {
  const server: NodeJS.EventEmitter = of.app.getHttpServer();
  const accepted = new Promise<Socket>((done) => void server.once('connection', done));
  const socket = open(of);
  const theirs = await accepted;
  server.emit('clientError', Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), theirs);
  return answerOn(socket);
}

const large = `GET /parcels HTTP/1.1\r\nhost: a\r\nx-large: ${'a'.repeat(20_000)}\r\n\r\n`;
const malformed = 'GET /parcels HTTP/1.1\r\nhost a\r\n\r\n';
const cases: [what: string, ask: (to: Running) => Promise<Answer>, status: number, name: string][] = [
  ['headers that are too large', (to) => send(to, large), 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE'],
  ['bytes that are no HTTP', (to) => send(to, malformed), 400, 'BAD_REQUEST'],
  ['a request whose end does not come', outwait, 408, 'REQUEST_TIMEOUT'],
];

describe.each(cases)('%s', (_what, ask, status, name) => {
  it('have the error body of the interface', async () => {
    const { headers, body, ...answer } = await ask(parcels.running);
    const tracingId = headers.get('x-tracing-id');
    expect(answer.status).toBe(status);
    expect(headers.get('content-type')).toBe('application/json;charset=UTF-8');
    expect(body).toMatchObject({ error: { code: status, status: name, source: 'TRIBUTARY', tracingId } });
  });

  it('have problem details where those are the program’s', async () => {
    const { headers, body, ...answer } = await ask(parcels.details);
    expect(answer.status).toBe(status);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(headers.get('connection')).toBe('close');
    expect(body).toMatchObject({ type: 'about:blank', status, code: name, tracingId: headers.get('x-tracing-id') });
    expect(body).not.toHaveProperty('instance');
  });
});
