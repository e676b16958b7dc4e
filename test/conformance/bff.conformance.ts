import { assert, asyncProperty, constantFrom, integer, jsonValue, oneof, record, string } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeModule } from '#libs/server';
import { AppModule, programModule } from '../../apps/bff/src/app.module.js';
import { Env } from '../../apps/bff/src/config.js';
import { describedAs } from '../../apps/bff/src/openapi-description.js';
import { TestBff } from '../support/bff.js';
import { DescribedInterface, type DescribedOperation } from '../support/described-interface.js';

/** Every operation of the merchants' API, held against what it says of itself; then with whatever a caller may send. */

const document = await describeModule(programModule(new Env(), [AppModule]), describedAs);
const described = DescribedInterface.of(document);
const isStream = ({ responses }: DescribedOperation): boolean =>
  'text/event-stream' in (responses['200']?.content ?? {});
const named = described.operations
  .filter((operation) => !isStream(operation))
  .map((operation) => [operation.operationId, operation] as const);

let bff: TestBff;
let ids: Record<string, string>;
let keys: { operator: string; merchant: string };

beforeAll(async () => {
  bff = await TestBff.start();
  const merchant = await bff.merchant();
  const { token, customerId } = await bff.session(merchant, 'ada');
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  const rows = [1, 2, 3].map((n) => ({ id: `r${n}`, amount: n, currency: 'GBP', date: `2026-03-0${n}T00:00:00.000Z` }));
  bff.aggregator.transactions = new Map([['acc', rows]]);
  const { id: connectionId } = await bff.connected(token);
  await bff.synchronise(connectionId);
  const { data } = (await bff.ask<{ data: { id: string }[] }>('GET /v1/accounts', { as: token })).body;
  ids = { merchantId: merchant.id, customerId, connectionId, accountId: data[0]?.id ?? '' };
  keys = { operator: bff.env.OPERATOR_KEY, merchant: merchant.apiKey };
});
afterAll(() => bff.close());

interface Sent {
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  key?: string;
}

async function faultsOf(operation: DescribedOperation, { path = {}, query = {}, body, key }: Sent) {
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? ids[name] ?? '00000000-0000-4000-8000-000000000000'),
  );
  const search = new URLSearchParams(query).toString();
  const answer = await bff.ask(`${operation.method} ${filled}${search && `?${search}`}` as `GET /${string}`, {
    as: operation.path.startsWith('/v1/merchants') ? keys.operator : keys.merchant,
    headers: { 'customer-id': ids['customerId'] ?? '', ...(key === undefined ? {} : { 'idempotency-key': key }) },
    ...(operation.body && body !== undefined ? { body } : {}),
  });
  const { status, headers, text } = answer;
  const faults = described.faultsOf(operation, { status, contentType: headers['content-type'] ?? '', text });
  const sent = `${operation.method} ${filled}?${search} ${JSON.stringify(body)}`;
  return { sent, status, faults, text: faults.length > 0 ? text : '' };
}

/** The example that the document shows of the operation's body. */
function exampleOf({ path, method }: DescribedOperation): unknown {
  const operation = document.paths[path]?.[method.toLowerCase() as 'post'];
  const body = operation?.requestBody;
  return body && 'content' in body ? body.content['application/json']?.example : undefined;
}

describe('every operation of the merchants’ API', () => {
  it.each(named.filter(([, { method }]) => method !== 'DELETE'))('%s answers as it says', async (_id, operation) => {
    const answer = await faultsOf(operation, { body: exampleOf(operation), key: 'conformance' });
    expect(answer).toEqual({ ...answer, faults: [] });
  });

  it.each(named)('%s refuses whoever is not signed in', async (_id, operation) => {
    const route = `${operation.method} ${operation.path.replaceAll(/\{\w+\}/g, 'x')}` as `GET /${string}`;
    const { status, headers, text } = await bff.ask(route);
    const contentType = headers['content-type'] ?? '';
    expect({ status, faults: described.faultsOf(operation, { status, contentType, text }) }).toEqual({
      status: 401,
      faults: [],
    });
  });
});

describe('whatever a caller sends', () => {
  const texts = oneof(
    string({ maxLength: 40 }),
    string({ unit: 'binary', maxLength: 10 }),
    constantFrom('0', '-1', 'null'),
  );
  const numbers = integer().map(String);
  const anything = oneof(texts, numbers, constantFrom('2026-01-01T00:00:00Z', '1e999', '%', "'", '\\', '\u0000'));

  it('is answered as described, and never with a fault of ours', async () => {
    const cases = record({
      operation: constantFrom(...named.map(([, operation]) => operation)),
      values: record({ one: anything, two: anything, three: anything }),
      body: oneof(jsonValue(), constantFrom({}, [], null, '')),
      spoiled: integer({ min: 0, max: 5 }),
    });
    await assert(
      asyncProperty(cases, async ({ operation, values, body, spoiled }) => {
        const parameters = operation.parameters.filter(({ in: place }) => place === 'query');
        const pool = Object.values(values);
        const query = Object.fromEntries(parameters.map(({ name }, n) => [name, pool[(n + spoiled) % 3] ?? '']));
        const chosen = Object.fromEntries(Object.entries(query).filter((_, n) => (n + spoiled) % 2 === 0));
        const example = exampleOf(operation);
        const members = typeof example === 'object' && example !== null ? Object.keys(example) : [];
        const member = members[spoiled % Math.max(1, members.length)];
        const spoilt = spoiled < 3 || member === undefined ? body : { ...(example as object), [member]: body };
        const answer = await faultsOf(operation, { query: chosen, body: spoilt });
        expect(answer).toEqual({ ...answer, faults: [] });
      }),
      { numRuns: 1_500, interruptAfterTimeLimit: 60_000 },
    );
  }, 120_000);
});
