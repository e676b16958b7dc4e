import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PaymentRequest } from '#libs/contract';
import { AggregatorClient } from './aggregator-client.js';
import { ClientError } from './client-error.js';

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}
type Reply = (response: ServerResponse, request: Seen) => void;

let server: Server;
let seen: Seen[];
let replies: Reply[];
let client: AggregatorClient;

/** Answers the n-th request with the n-th reply, and the last one for ever after. */
beforeEach(async () => {
  seen = [];
  replies = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      (replies[seen.length - 1] ?? replies.at(-1))?.(response, one);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  client = clientWith({});
});

afterEach(async () => {
  await client.close();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

function clientWith(options: { timeoutMs?: number; tracingId?: () => string }): AggregatorClient {
  const { port } = server.address() as AddressInfo;
  const credentials = { applicationId: 'app', applicationSecret: 's:cret' };
  return new AggregatorClient({ baseUrl: `http://127.0.0.1:${port}/`, ...credentials, ...options });
}

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response
      .writeHead(status, { 'content-type': 'application/json;charset=UTF-8', ...headers })
      .end(JSON.stringify(body));
  };
const cut: Reply = (response) => response.destroy();
const silence: Reply = () => undefined;
const ok = json(200, { meta: { tracingId: 't' }, data: [] });

async function failure(call: Promise<unknown>): Promise<ClientError> {
  const outcome = await call.then(
    () => 'success',
    (error: unknown) => error,
  );
  if (outcome instanceof ClientError) return outcome;
  throw new Error('the call did not fail as a ClientError');
}

const payment: PaymentRequest = {
  paymentIdempotencyId: 'a1',
  type: 'DOMESTIC_PAYMENT',
  amount: { amount: 1, currency: 'GBP' },
  payee: { name: 'Jane', accountIdentifications: [{ type: 'SORT_CODE', identification: '123456' }] },
};

describe('what is sent', () => {
  it('carries credentials, tracing id, consent, PSU and query', async () => {
    replies = [ok];
    const traced = clientWith({ tracingId: () => 'trace' });
    const from = new Date('2024-01-01T00:00:00Z');
    await traced.getTransactions('token', 'a/b', { from, limit: 5, psu: { psuIpAddress: '192.0.2.1' } });
    await traced.close();
    expect(seen[0]?.url).toBe('/accounts/a%2Fb/transactions?from=2024-01-01T00%3A00%3A00.000Z&limit=5');
    expect(seen[0]?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('app:s:cret').toString('base64')}`,
      consent: 'token',
      'psu-ip-address': '192.0.2.1',
      'x-tracing-id': 'trace',
    });
    expect(seen[0]?.headers).not.toHaveProperty('sub-application');
  });

  it('names the sub-application on every call made for it', async () => {
    replies = [ok];
    await client.forSubApplication('sub').getInstitutions();
    expect(seen[0]?.headers['sub-application']).toBe('sub');
  });

  it('repeats list filters', async () => {
    replies = [ok];
    await client.getConsents({ status: ['AUTHORIZED', 'EXPIRED'], limit: 2 });
    expect(decodeURIComponent(seen[0]?.url ?? '')).toBe(
      '/consents?filter[status]=AUTHORIZED&filter[status]=EXPIRED&limit=2',
    );
  });

  it('sends bodies as JSON, patches under their own type', async () => {
    replies = [json(201, { uuid: 'u' })];
    await client.patchUser('u', [{ path: '/referenceId', value: 'x' }]);
    expect(seen[0]).toMatchObject({
      method: 'PATCH',
      body: '[{"path":"/referenceId","value":"x"}]',
      headers: { 'content-type': 'application/json-patch+json' },
    });
  });

  it.each(['..', '.', '../users', 'a?b#c'])('keeps the id %j inside its segment', async (id) => {
    replies = [json(200, { data: {} })];
    await client.getConsentById(id);
    expect(seen[0]?.url).toMatch(/^\/consents\/[^/?#]+$/);
  });

  it('reads an answer without a body', async () => {
    replies = [(response) => response.writeHead(204).end()];
    await expect(client.deleteApplication('a')).resolves.toBeUndefined();
  });
});

describe('a second try', () => {
  it.each([502, 503, 504])('follows a GET that met %d, once', async (status) => {
    replies = [json(status, {}), ok];
    await expect(client.getInstitutions()).resolves.toMatchObject({ data: [] });
    expect(seen).toHaveLength(2);
  });

  it('follows a GET whose connection was cut, once', async () => {
    replies = [cut, ok];
    await client.getAccounts('token');
    replies = [cut];
    seen = [];
    const error = await failure(client.getAccounts('token'));
    expect(seen).toHaveLength(2);
    expect(error).toMatchObject({ status: undefined, timedOut: false, retryable: true, operation: 'getAccounts' });
  });

  it.each([400, 401, 404, 424, 429, 500])('does not follow %d', async (status) => {
    replies = [json(status, {})];
    expect((await failure(client.getInstitutions())).status).toBe(status);
    expect(seen).toHaveLength(1);
  });

  it.each([
    ['cut', cut],
    ['503', json(503, {})],
    ['502', json(502, {})],
  ])('never follows a payment (%s)', async (_, reply) => {
    replies = [reply];
    expect(await failure(client.createPayment('token', payment))).toMatchObject({ retryable: false });
    expect(seen).toHaveLength(1);
  });
});

describe('the deadline', () => {
  it('ends a call that is not answered', async () => {
    replies = [silence];
    const hasty = clientWith({ timeoutMs: 500 });
    const error = await failure(hasty.getInstitutions());
    expect(error).toMatchObject({ timedOut: true, retryable: true, status: undefined });
    expect(await failure(hasty.createPayment('token', payment))).toMatchObject({ timedOut: true, retryable: false });
    expect(seen).toHaveLength(2);
  });

  it('covers the body', async () => {
    replies = [(response) => response.writeHead(200).write('{"data":')];
    const hasty = clientWith({ timeoutMs: 500 });
    expect(await failure(hasty.getInstitutions())).toMatchObject({ timedOut: true });
  });
});

describe('a refusal', () => {
  it('tells status, issues, tracing id and when to come back', async () => {
    const issues = [
      { type: 'INVALID_REQUEST', code: 'INVALID_PROPERTY_UNEXPECTED_VALUE', parameter: 'limit', message: 'm' },
    ];
    replies = [
      json(
        429,
        { error: { tracingId: 'abc', code: 429, status: 'TOO_MANY_REQUESTS', issues } },
        { 'retry-after': '7' },
      ),
    ];
    const error = await failure(client.createPayment('token', payment));
    expect(error).toMatchObject({ status: 429, tracingId: 'abc', issues, retryAfter: 7, retryable: true });
  });

  it.each<[string, Record<string, string>, number | undefined]>([
    ['a date', { 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' }, 30],
    [
      'a date that is past',
      { 'retry-after': 'Sat, 21 Nov 2026 09:59:30 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' },
      undefined,
    ],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
  ])('says when to come back where that is %s', async (_what, headers, seconds) => {
    replies = [json(429, { error: { code: 429 } }, headers)];
    expect((await failure(client.createPayment('token', payment))).retryAfter).toBe(seconds);
  });

  it('reads the field list of applications', async () => {
    replies = [json(400, { errors: [{ fieldName: 'name', error: 'MANDATORY' }] })];
    const body = { name: 'n', merchantCategoryCode: '5411', ppcUserGroup: 'FINANCE', isContractPresent: true };
    expect((await failure(client.createSubApplication(body))).issues).toEqual([
      { type: 'INVALID_REQUEST', code: 'MANDATORY', parameter: '$.name' },
    ]);
  });

  it('tells what the institution answered', async () => {
    replies = [
      json(424, { error: { source: 'INSTITUTION', institutionError: { errorMessage: 'x', httpStatusCode: 403 } } }),
    ];
    expect((await failure(client.getAccounts('token'))).institutionStatus).toBe(403);
  });

  it('survives an error page', async () => {
    replies = [(response) => response.writeHead(500).end('<html>')];
    expect(await failure(client.getAccounts('token'))).toMatchObject({ status: 500, issues: [], body: undefined });
  });

  it.each(['<html>', '[]', '{"data":{}}', '{}', 'null', ''])('does not take %j for a list', async (text) => {
    replies = [(response) => response.writeHead(200).end(text)];
    expect(await failure(client.getAccounts('token'))).toMatchObject({ status: 200 });
  });

  it('keeps secrets and tokens out of its message', async () => {
    replies = [json(403, {})];
    const { message, stack } = await failure(client.getAccounts('very-secret-token'));
    expect(`${message} ${stack}`).not.toMatch(/very-secret-token|s:cret/);
  });
});
